import { z } from 'zod';
import { PromqlError } from '../../../queries/promql/errors.ts';
import { readCardinality } from '../../../queries/promql/fetch/metadata-reads.ts';
import { defaultLookbackMs } from '../../../queries/promql/run-promql.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { byGet } from './answer.ts';
import { limited, plainNumberOf, shared } from './parameters.ts';
import { scopeOf } from './scope.ts';

/** The version whose API this is; clients choose by it what they ask. */
const prometheusVersion = '3.15.0';
/** Series that had samples in the last hour count as present. */
const presentMs = 3_600_000;
const maxRows = 10_000;
const defaultRows = 10;
const positive = 'a positive number';

export const showBuild = byGet({
  path: 'status/buildinfo',
  operationId: 'showPrometheusBuild',
  summary: 'Show the version of Prometheus whose API this is',
  parameters: {},
  answer: () => ({
    data: { version: prometheusVersion, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' },
  }),
});

/** Started with the process: clients compare it to see restarts. */
const startTime = new Date().toISOString();

export const showRuntime = byGet({
  path: 'status/runtimeinfo',
  operationId: 'showPrometheusRuntime',
  summary: 'Show the runtime in the form of Prometheus: since when it runs, and how long metrics are kept',
  parameters: {},
  answer: ({ caller }, { clock }) => ({
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

/** The flags that clients go by. */
export const showFlags = byGet({
  path: 'status/flags',
  operationId: 'showPrometheusFlags',
  summary: 'Show the flags of Prometheus that hold here',
  parameters: {},
  answer: ({ caller }, { settings }) => ({
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

/** There is no file of configuration. */
export const showConfiguration = byGet({
  path: 'status/config',
  operationId: 'showPrometheusConfiguration',
  summary: 'Show the configuration in the form of Prometheus: it is empty, as nothing is scraped',
  parameters: {},
  answer: () => ({ data: { yaml: '' } }),
});

/** What was acknowledged is read when it has landed: there is no log to replay at a start. */
export const showReplay = byGet({
  path: 'status/walreplay',
  operationId: 'showPrometheusReplay',
  summary: 'Show the replay of the write-ahead log in the form of Prometheus: it is always done',
  parameters: {},
  answer: () => ({ data: { min: 0, max: 0, current: 0, state: 'done' } }),
});

/** Nothing is scraped: there are no targets. */
export const listTargets = byGet({
  path: 'targets',
  operationId: 'listPrometheusTargets',
  summary: 'List targets in the form of Prometheus: there are none, as nothing is scraped',
  parameters: {},
  answer: () => ({ data: { activeTargets: [], droppedTargets: [], droppedTargetCounts: {} } }),
});

export const listTargetMetadata = byGet({
  path: 'targets/metadata',
  operationId: 'listPrometheusTargetMetadata',
  summary: 'List metadata of targets in the form of Prometheus: there is none; /metadata has that of metrics',
  parameters: {},
  answer: () => ({ data: [] }),
});

/** Alerts are routed here. */
export const listAlertmanagers = byGet({
  path: 'alertmanagers',
  operationId: 'listPrometheusAlertmanagers',
  summary: 'List Alertmanagers in the form of Prometheus: there are none, as alerts are routed here',
  parameters: {},
  answer: () => ({ data: { activeAlertmanagers: [], droppedAlertmanagers: [] } }),
});

const healthOperation = (state: 'Healthy' | 'Ready') =>
  defineOperation({
    method: 'GET',
    path: `/api/prom/-/${state.toLowerCase()}`,
    operationId: `showPrometheus${state}`,
    summary: `Say that the API of Prometheus is ${state.toLowerCase()}: it answers`,
    role: 'viewer',
    basic: true,
    contentType: 'text/plain; charset=utf-8',
    response: z.string(),
    handler: async () => `Prometheus Server is ${state}.\n`,
  });

export const showHealth = healthOperation('Healthy');
export const showReadiness = healthOperation('Ready');

export const showCardinality = byGet({
  path: 'status/tsdb',
  operationId: 'showPrometheusCardinality',
  summary: 'Count series by metric, label and pair of label and value',
  parameters: { ...limited, ...shared },
  async answer(request, ports) {
    const given = plainNumberOf(request.given, 'limit', positive) ?? defaultRows;
    if (given < 1) throw new PromqlError('bad_data', `limit must be ${positive}`);
    const limit = Math.min(given, maxRows);
    const nowMs = ports.clock.now();
    const found = await readCardinality(scopeOf(request, ports), { fromMs: nowMs - presentMs, toMs: nowMs }, limit);
    return {
      data: {
        headStats: {
          numSeries: found.series,
          numLabelPairs: found.labelPairs,
          chunkCount: 0,
          minTime: found.minTimeMs,
          maxTime: found.maxTimeMs,
        },
        seriesCountByMetricName: found.byMetric,
        labelValueCountByLabelName: found.valuesByLabel,
        memoryInBytesByLabelName: found.bytesByLabel,
        seriesCountByLabelValuePair: found.byPair,
      },
    };
  },
});
