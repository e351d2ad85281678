import type { Settings } from '../../schemas/settings.ts';
import type { Translation } from './otlp/labels.ts';

/** How OTLP becomes Prometheus' series, from the settings. */
export const translationOf = (settings: Settings): Translation => ({
  strategy: settings.PROMQL_TRANSLATION,
  promoted: settings.PROMQL_RESOURCE_ATTRIBUTES,
  scopeLabels: settings.PROMQL_SCOPE_LABELS,
});
