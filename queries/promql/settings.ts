import type { Settings } from '../../schemas/settings.ts';
import { defaultOptions, type EngineOptions } from './engine/context.ts';
import type { Translation } from './otlp/labels.ts';
import { everySyntax, type SyntaxOptions } from './syntax/reader.ts';

/** Returns the translation of OTLP series from the settings. */
export const translationOf = (settings: Settings): Translation => ({
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
export const featuresOf = ({ PROMQL_FEATURES: named }: Settings): Features => ({
  syntax: {
    experimentalFunctions: named.includes('promql-experimental-functions'),
    // No longer behind a flag in Prometheus: always enabled.
    durationExpressions: true,
    extendedRangeSelectors: named.includes('promql-extended-range-selectors'),
    fillModifiers: named.includes('promql-binop-fill-modifiers'),
  },
  engine: {
    ...defaultOptions,
    delayedNameRemoval: named.includes('promql-delayed-name-removal'),
    startTimestamps: named.includes('use-start-timestamps'),
    typeAndUnitLabels: named.includes('type-and-unit-labels'),
  },
});
