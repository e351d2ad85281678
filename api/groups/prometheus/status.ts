import { z } from 'zod';
import { PromqlError } from '../../../queries/promql/errors.ts';
import { readCardinality } from '../../../queries/promql/fetch/metadata-reads.ts';
import { defaultLookbackMs } from '../../../queries/promql/run-promql.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { defineGetOperation } from './define-operation.ts';
import { getInteger, limitParameters, projectParameters } from './parameters.ts';
import { createScope } from './scope.ts';

/** The Prometheus version of this API; clients adapt their requests to it. */
const prometheusVersion = '3.15.0';
/** Series with samples in the last hour are counted. */
const activeSeriesWindowMs = 3_600_000;
const maxRows = 10_000;
const defaultRows = 10;
const positiveNumberText = 'a positive number';

export const showBuild = defineGetOperation({
  path: 'status/buildinfo',
  operationId: 'showPrometheusBuild',
  summary: 'Get the Prometheus version of this API',
  parameters: {},
  run: () => ({
    data: { version: prometheusVersion, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' },
  }),
});

/** Start of the process: clients compare it to detect restarts. */
const startTime = new Date().toISOString();

export const showRuntime = defineGetOperation({
  path: 'status/runtimeinfo',
  operationId: 'showPrometheusRuntime',
  summary: 'Get runtime information in the format of Prometheus: start time and retention of metrics',
  parameters: {},
  run: ({ caller }, { clock }) => ({
    data: {
      startTime,
      CWD: '',
      hostname: '',
      serverTime: new Date(clock.now()).toISOString(),
      reloadConfigSuccess: true,
      lastConfigTime: startTime,
      corruptionCount: 0,
      goroutineCount: 0,
      GOMAXPROCS: 0,
      GOMEMLIMIT: 0,
      GOGC: '',
      GODEBUG: '',
      storageRetention: `${caller.plan.retentionDays.metrics}d`,
    },
  }),
});

/** The flags that clients use */
export const showFlags = defineGetOperation({
  path: 'status/flags',
  operationId: 'showPrometheusFlags',
  summary: 'Get the applicable flags of Prometheus',
  parameters: {},
  run: ({ caller }, { settings }) => ({
    data: {
      'enable-feature': settings.PROMQL_FEATURES.join(','),
      'query.lookback-delta': `${defaultLookbackMs / 60_000}m`,
      'storage.tsdb.retention.time': `${caller.plan.retentionDays.metrics}d`,
      'web.enable-remote-write-receiver': 'true',
      'web.enable-admin-api': 'false',
      'web.enable-lifecycle': 'false',
    },
  }),
});

/** Always empty: there is no configuration file of Prometheus. */
export const showConfiguration = defineGetOperation({
  path: 'status/config',
  operationId: 'showPrometheusConfiguration',
  summary: 'Get the configuration in the format of Prometheus: always empty, since nothing is scraped',
  parameters: {},
  run: () => ({ data: { yaml: '' } }),
});

/** Always complete: there is no write-ahead log that is replayed at startup. */
export const showReplay = defineGetOperation({
  path: 'status/walreplay',
  operationId: 'showPrometheusReplay',
  summary: 'Get the replay status of the write-ahead log in the format of Prometheus: always complete',
  parameters: {},
  run: () => ({ data: { min: 0, max: 0, current: 0, state: 'done' } }),
});

/** Always empty: nothing is scraped, so there are no targets. */
export const listTargets = defineGetOperation({
  path: 'targets',
  operationId: 'listPrometheusTargets',
  summary: 'List targets in the format of Prometheus: always empty, since nothing is scraped',
  parameters: {},
  run: () => ({ data: { activeTargets: [], droppedTargets: [], droppedTargetCounts: {} } }),
});

export const listTargetMetadata = defineGetOperation({
  path: 'targets/metadata',
  operationId: 'listPrometheusTargetMetadata',
  summary: 'List metadata of targets in the format of Prometheus: always empty; use /metadata for metrics',
  parameters: {},
  run: () => ({ data: [] }),
});

/** Always empty: this platform routes alerts itself. */
export const listAlertmanagers = defineGetOperation({
  path: 'alertmanagers',
  operationId: 'listPrometheusAlertmanagers',
  summary: 'List Alertmanagers in the format of Prometheus: always empty, since this platform routes alerts',
  parameters: {},
  run: () => ({ data: { activeAlertmanagers: [], droppedAlertmanagers: [] } }),
});

const defineHealthOperation = (state: 'Healthy' | 'Ready') =>
  defineOperation({
    method: 'GET',
    path: `/api/prom/-/${state.toLowerCase()}`,
    operationId: `showPrometheus${state}`,
    summary: `Check that the API of Prometheus is ${state.toLowerCase()}`,
    role: 'viewer',
    basic: true,
    contentType: 'text/plain; charset=utf-8',
    response: z.string(),
    handler: async () => `Prometheus Server is ${state}.\n`,
  });

export const showHealth = defineHealthOperation('Healthy');
export const showReadiness = defineHealthOperation('Ready');

export const showCardinality = defineGetOperation({
  path: 'status/tsdb',
  operationId: 'showPrometheusCardinality',
  summary: 'Count series by metric, by label, and by label-value pair',
  parameters: { ...limitParameters, ...projectParameters },
  async run(request, ports) {
    const requestedLimit = getInteger(request.parameterValues, 'limit', positiveNumberText) ?? defaultRows;
    if (requestedLimit < 1) throw new PromqlError('bad_data', `limit must be ${positiveNumberText}`);
    const limit = Math.min(requestedLimit, maxRows);
    const nowMs = ports.clock.now();
    const cardinality = await readCardinality(
      createScope(request, ports),
      { fromMs: nowMs - activeSeriesWindowMs, toMs: nowMs },
      limit,
    );
    return {
      data: {
        headStats: {
          numSeries: cardinality.series,
          numLabelPairs: cardinality.labelPairs,
          chunkCount: 0,
          minTime: cardinality.minTimeMs,
          maxTime: cardinality.maxTimeMs,
        },
        seriesCountByMetricName: cardinality.byMetric,
        labelValueCountByLabelName: cardinality.valuesByLabel,
        memoryInBytesByLabelName: cardinality.bytesByLabel,
        seriesCountByLabelValuePair: cardinality.byPair,
      },
    };
  },
});
