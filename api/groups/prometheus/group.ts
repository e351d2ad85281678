import { defineGroup } from '../define-group.ts';
import { listAlerts, listRules } from './alert-rules.ts';
import { formatQuery, parseQuery } from './expressions.ts';
import { showFeatures } from './features.ts';
import { showLabels, showLabelValues, showSeries } from './labels.ts';
import { showExemplars, showMetadata } from './metadata.ts';
import { queryInstant, queryRange } from './query.ts';
import {
  listAlertmanagers,
  listTargetMetadata,
  listTargets,
  showBuild,
  showCardinality,
  showConfiguration,
  showFlags,
  showHealth,
  showReadiness,
  showReplay,
  showRuntime,
} from './status.ts';

export const prometheusGroup = defineGroup({
  name: 'prometheus',
  summary: 'The Prometheus HTTP API for PromQL.',
  entitlement: 'metrics',
  // Clients use this response to detect features that a server does not have.
  elsewhere: { under: '/api/prom/', failure: { status: 404, body: '404 page not found\n' } },
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
    ...[showRuntime, showFlags, showConfiguration, showReplay, showFeatures, showHealth, showReadiness],
    ...[listTargets, listTargetMetadata, listAlertmanagers],
  ],
});
