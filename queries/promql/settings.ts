import type { Settings } from '../../schemas/settings.ts';
import { defaultOptions, type EngineOptions } from './engine/context.ts';
import type { Translation } from './otlp/labels.ts';
import { everySyntax, type SyntaxOptions } from './syntax/reader.ts';

/** Returns the translation of OTLP series from the settings. */
export const readTranslation = (settings: Settings): Translation => ({
  strategy: settings.PROMQL_TRANSLATION,
  promoted: settings.PROMQL_RESOURCE_ATTRIBUTES,
  scopeLabels: settings.PROMQL_SCOPE_LABELS,
});

/** Enabled features of PromQL. */
export interface Features {
  readonly syntax: SyntaxOptions;
  readonly engine: EngineOptions;
}

/** Features enabled by default. */
export const defaultFeatures: Features = { syntax: everySyntax, engine: defaultOptions };

/** Returns the enabled features from the settings. */
export const readFeatures = ({ PROMQL_FEATURES: enabledFeatures }: Settings): Features => ({
  syntax: {
    experimentalFunctions: enabledFeatures.includes('promql-experimental-functions'),
    // No longer behind a flag in Prometheus: always enabled.
    durationExpressions: true,
    extendedRangeSelectors: enabledFeatures.includes('promql-extended-range-selectors'),
    fillModifiers: enabledFeatures.includes('promql-binop-fill-modifiers'),
  },
  engine: {
    ...defaultOptions,
    delayedNameRemoval: enabledFeatures.includes('promql-delayed-name-removal'),
    startTimestamps: enabledFeatures.includes('use-start-timestamps'),
    typeAndUnitLabels: enabledFeatures.includes('type-and-unit-labels'),
  },
});
