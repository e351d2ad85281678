import { defineGroup } from '../define-group.ts';
import { listAlerts, listRules } from './alert-rules.ts';
import { formatQuery, parseQuery } from './expressions.ts';
import { showLabels, showLabelValues, showSeries } from './labels.ts';
import { showExemplars, showMetadata } from './metadata.ts';
import { queryInstant, queryRange } from './query.ts';
import { showBuild, showCardinality } from './status.ts';

export const prometheusGroup = defineGroup({
  name: 'prometheus',
  summary: 'The Prometheus HTTP API for PromQL.',
  entitlement: 'metrics',
  operations: [
    ...queryInstant,
    ...queryRange,
    ...showSeries,
    ...showLabels,
    showLabelValues,
    showMetadata,
    ...showExemplars,
    ...formatQuery,
    ...parseQuery,
    listRules,
    listAlerts,
    showBuild,
    showCardinality,
  ],
});
