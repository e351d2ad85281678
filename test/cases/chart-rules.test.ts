/**
 * The Prometheus rules of the chart: promtool accepts them, each alert fires for its condition, and the handbook
 * documents each.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { parse, stringify } from 'yaml';
import { metricDefinitions } from '../../schemas/ports/metrics.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { chart, find, readChart, render, renderSet } from './chart/chart.ts';

const run = promisify(execFile);
const withTools = chartToolsMissing === undefined ? test : test.skip;
const path = join(chart, 'files/rules.yaml');
const handbook = ['monitor', 'alerts']
  .map((page) => readFileSync(new URL(`../../docs/operate/${page}.md`, import.meta.url), 'utf8'))
  .join('\n');

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: { readonly summary: string; readonly description?: string };
}
interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}
const chartRules = parse(readChart('files/rules.yaml')) as RuleFile;
const rules = chartRules.groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert }) => alert ?? []);

test.before(async () => {
  if (chartToolsMissing === undefined) await chartTools();
});

/** Series by minute that make each alert fire within two hours. */
const firing: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  OiqIngestUnavailable: {
    'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="accepted"}': '0+900x120',
    'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="unavailable"}': '0+100x120',
  },
  OiqIngestRejected: {
    'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="accepted"}': '0+700x120',
    'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="rate-limited"}': '0+300x120',
  },
  OiqIngestSlow: {
    'oiq_ingest_duration_seconds_bucket{receiver="otlp-http",signal="logs",le="2.5"}': '0+9x120',
    'oiq_ingest_duration_seconds_bucket{receiver="otlp-http",signal="logs",le="5"}': '0+10x120',
    'oiq_ingest_duration_seconds_bucket{receiver="otlp-http",signal="logs",le="+Inf"}': '0+10x120',
  },
  OiqBusSlow: {
    'oiq_bus_publish_duration_seconds_bucket{topic="otlp.logs",le="2.5"}': '0+9x120',
    'oiq_bus_publish_duration_seconds_bucket{topic="otlp.logs",le="5"}': '0+10x120',
    'oiq_bus_publish_duration_seconds_bucket{topic="otlp.logs",le="+Inf"}': '0+10x120',
  },
  OiqConsumerLag: { 'oiq_consumer_lag_seconds{group="sinks.logs",topic="otlp.logs",partition="0"}': '400x120' },
  OiqConsumerLagNearRetention: {
    'oiq_consumer_lag_seconds{group="sinks.logs",topic="otlp.logs",partition="0"}': '2000x120',
  },
  OiqConsumerLagUnknown: {
    'oiq_consumer_lag_messages{group="sinks.logs",topic="otlp.logs",partition="0"}': 'NaN '.repeat(120),
  },
  OiqConsumerStalled: { 'oiq_consumer_still_seconds{group="sinks.logs"}': '0+60x120' },
  OiqConsumerGroupEmpty: { 'oiq_consumer_members{group="processors.alert-evaluation"}': '0x120' },
  OiqConsumerHotPartition: {
    'oiq_consumer_lag_largest_share{group="sinks.logs",topic="otlp.logs"}': '0.95x120',
    'oiq_consumer_lag_seconds{group="sinks.logs",topic="otlp.logs",partition="0"}': '90x120',
  },
  OiqConsumerRejects: {
    'oiq_consumer_batches_total{group="sinks.logs",outcome="rejected"}': '0+9x120',
    'oiq_consumer_batches_total{group="sinks.logs",outcome="committed"}': '0+1x120',
  },
  OiqDeadLetters: { 'oiq_dead_letters_total{origin="otlp-http",reason="malformed"}': '0+1x120' },
  OiqInsertsSlow: {
    'oiq_insert_duration_seconds_bucket{table="logs",le="5"}': '0+5x120',
    'oiq_insert_duration_seconds_bucket{table="logs",le="10"}': '0+10x120',
    'oiq_insert_duration_seconds_bucket{table="logs",le="+Inf"}': '0+10x120',
  },
  OiqSinkStalled: {
    'oiq_landed_rows_total{table="logs"}': '100x120',
    'oiq_ingest_records_total{receiver="otlp-http",signal="logs",outcome="accepted"}': '0+100x120',
  },
  OiqProcessorLimits: {
    'oiq_processor_limited_records_total{processor="log-patterns",tenant="a",reason="time"}': '0+10x120',
  },
  OiqProcessorTimersFailing: { 'oiq_processor_failed_timers_total{processor="call-ends"}': '0+1x120' },
  OiqProcessorSnapshotsFailing: {
    'oiq_processor_snapshots_total{processor="log-patterns",outcome="failed"}': '0+1x120',
  },
  OiqApiErrors: {
    'oiq_api_requests_total{operation="listLogs",status="200"}': '0+90x120',
    'oiq_api_requests_total{operation="listLogs",status="503"}': '0+10x120',
  },
  OiqQueriesRejected: { 'oiq_queries_refused_total{reason="waited"}': '0+60x120' },
  OiqJobFailing: {
    'oiq_job_runs_total{job="retention",outcome="failure"}': '0+1x120',
    'oiq_job_runs_total{job="retention",outcome="success"}': '5x120',
  },
  OiqWatchStalled: { 'oiq_job_last_success_timestamp_seconds{job="platform-watch"}': '60x120' },
  OiqSchedulesDelayed: {
    'oiq_schedule_delay_seconds_bucket{schedule="alerts",le="60"}': '0+5x120',
    'oiq_schedule_delay_seconds_bucket{schedule="alerts",le="300"}': '0+10x120',
    'oiq_schedule_delay_seconds_bucket{schedule="alerts",le="+Inf"}': '0+10x120',
  },
  OiqScheduleStalled: { 'oiq_schedule_oldest_due_seconds{schedule="alert-evaluation"}': '0+60x120' },
  OiqScheduleFailing: {
    'oiq_schedule_runs_total{schedule="alerts",outcome="failure"}': '0+9x120',
    'oiq_schedule_runs_total{schedule="alerts",outcome="success"}': '0+1x120',
  },
  OiqNotificationsFailing: { 'oiq_notification_attempts_total{type="webhook",outcome="failed"}': '0+1x120' },
  OiqNotificationsDelayed: { oiq_notification_deliveries_pending: '150x120' },
  OiqLicenseKeysStale: { oiq_license_keys_stale_seconds: '90x120' },
  OiqCountersDegraded: { oiq_counters_degraded: '1x120' },
  OiqEventLoopBlocked: { 'oiq_event_loop_blocked_seconds_sum{work="operation importAlertRouting"}': '0+2x120' },
  OiqLiveTailSkipping: { 'oiq_live_tail_records_total{signal="logs",outcome="skipped"}': '0+90000x120' },
  OiqRoleMissing: {
    'up{app_kubernetes_io_component="receivers",pod="oiq-receivers-1"}': '1x120',
    'up{app_kubernetes_io_component="processors",pod="oiq-processors-1"}': '1x120',
    'up{app_kubernetes_io_component="api",pod="oiq-api-1"}': '1x120',
  },
  OiqDown: { 'up{app_kubernetes_io_component="receivers",pod="oiq-receivers-1"}': '0x120' },
};

/** Series of a healthy installation: no alert may fire. */
const healthy: Readonly<Record<string, string>> = {
  'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="accepted"}': '0+1000x120',
  'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="unavailable"}': '0+1x120',
  'oiq_ingest_requests_total{receiver="otlp-http",signal="logs",outcome="malformed"}': '0+10x120',
  'oiq_ingest_records_total{receiver="otlp-http",signal="logs",outcome="accepted"}': '0+100000x120',
  'oiq_ingest_duration_seconds_bucket{receiver="otlp-http",signal="logs",le="0.1"}': '0+1000x120',
  'oiq_ingest_duration_seconds_bucket{receiver="otlp-http",signal="logs",le="+Inf"}': '0+1000x120',
  'oiq_consumer_lag_messages{group="sinks.logs",topic="otlp.logs",partition="0"}': '50x120',
  'oiq_consumer_lag_seconds{group="sinks.logs",topic="otlp.logs",partition="0"}': '5x120',
  'oiq_consumer_lag_largest_share{group="sinks.logs",topic="otlp.logs"}': '0.95x120',
  'oiq_consumer_still_seconds{group="sinks.logs"}': '5x120',
  'oiq_consumer_members{group="sinks.logs"}': '1x120',
  'oiq_schedule_oldest_due_seconds{schedule="alert-evaluation"}': '20x120',
  'oiq_consumer_batches_total{group="sinks.logs",outcome="committed"}': '0+50x120',
  'oiq_consumer_batches_total{group="sinks.logs",outcome="rejected"}': '0+1x120',
  'oiq_dead_letters_total{origin="otlp-http",reason="malformed"}': '3x120',
  'oiq_landed_rows_total{table="logs"}': '0+100000x120',
  'oiq_insert_duration_seconds_bucket{table="logs",le="1"}': '0+10x120',
  'oiq_insert_duration_seconds_bucket{table="logs",le="+Inf"}': '0+10x120',
  'oiq_api_requests_total{operation="listLogs",status="200"}': '0+1000x120',
  'oiq_event_loop_blocked_seconds_sum{work="operation listLogs"}': '0+0.2x120',
  'oiq_api_requests_total{operation="listLogs",status="500"}': '0+1x120',
  'oiq_job_last_success_timestamp_seconds{job="platform-watch"}': '0+60x120',
  'oiq_job_runs_total{job="retention",outcome="success"}': '0+1x120',
  'oiq_job_runs_total{job="retention",outcome="failure"}': '0+1x120',
  'oiq_notification_attempts_total{type="webhook",outcome="delivered"}': '0+10x120',
  oiq_notification_deliveries_pending: '3x120',
  oiq_license_keys_stale_seconds: '2x120',
  oiq_counters_degraded: '0x120',
  'up{app_kubernetes_io_component="receivers",pod="oiq-receivers-1"}': '1x120',
  'up{app_kubernetes_io_component="sinks",pod="oiq-sink-logs-1"}': '1x120',
  'up{app_kubernetes_io_component="processors",pod="oiq-processors-1"}': '1x120',
  'up{app_kubernetes_io_component="api",pod="oiq-api-1"}': '1x120',
};

const seriesOf = (series: Readonly<Record<string, string>>, labels = '') =>
  Object.entries(series).map(([name, values]) => ({
    series: labels === '' ? name : `${name.replace(/\{?\}?$/, (end) => (end === '}' ? `,${labels}}` : `{${labels}}`))}`,
    values,
  }));

/** Returns how many alerts of a name fire at the end. */
const expectation = (expr: string, values: readonly number[]) => ({
  expr,
  eval_time: '110m',
  exp_samples: values.map((value) => ({ labels: '{}', value })),
});

test('every declared metric is set by the code', (t) => {
  const root = new URL('../../', import.meta.url).pathname;
  const rooms = '{adapters,api,commands,processors,queries,receivers,runtime,sinks}';
  const code = globSync(`${rooms}/**/*.ts`, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  t.deepEqual(
    Object.keys(metricDefinitions).filter((name) => !code.some((text) => text.includes(`'${name}'`))),
    [],
  );
});

test('every alert has a test case', (t) => {
  t.deepEqual(Object.keys(firing).sort(), [...alerts].sort());
});

withTools('promtool accepts the rules', async (t) => {
  const { promtool } = await chartTools();
  t.regex((await run(promtool, ['check', 'rules', path])).stdout, /SUCCESS: \d+ rules found/);
});

interface RuleTest {
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly ReturnType<typeof expectation>[];
}
interface RuleSuite {
  readonly rules: RuleFile;
  readonly tests: readonly RuleTest[];
}
const fires = (alert: string) => expectation(`sum(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`, [1]);
const firesNot = expectation('sum(ALERTS{alertstate="firing"})', []);

/** Returns the errors that promtool reports for these rules; empty if all tests pass. */
const failureOf = async (t: ExecutionContext, suites: readonly RuleSuite[]): Promise<string> => {
  const { promtool } = await chartTools();
  const directory = mkdtempSync(join(tmpdir(), 'oiq-rules-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const files = suites.map(({ rules: tested, tests }, index) => {
    const [ruleFile, file] = [`rules-${index}.yaml`, join(directory, `tests-${index}.yaml`)];
    const all = tests.map((each) => ({ interval: '1m', ...each }));
    writeFileSync(join(directory, ruleFile), stringify(tested));
    writeFileSync(file, stringify({ rule_files: [ruleFile], evaluation_interval: '1m', tests: all }));
    return file;
  });
  return run(promtool, ['test', 'rules', ...files]).then(
    () => '',
    (error: { stdout: string; stderr: string }) => `${error.stdout}\n${error.stderr}`,
  );
};

/** Returns the rules without other alerts: promtool evaluates each tested rule at every minute. */
const about = ({ groups }: RuleFile, only: string): RuleFile => ({
  groups: groups.map((group) => ({
    ...group,
    rules: group.rules.filter(({ alert }) => alert === undefined || alert === only),
  })),
});

withTools('each alert fires for its condition, and none for a healthy installation', async (t) => {
  const suites = Object.entries(firing).map(([alert, series]) => ({
    rules: about(chartRules, alert),
    tests: [{ input_series: seriesOf(series), promql_expr_test: [fires(alert)] }],
  }));
  const quiet = { input_series: seriesOf(healthy), promql_expr_test: [firesNot] };
  t.is(await failureOf(t, [...suites, { rules: chartRules, tests: [quiet] }]), '');
});

withTools('rules of the chart select only their own installation', async (t) => {
  const { manifests } = await renderSet('cluster-monitoring');
  const own = 'namespace="observability",app_kubernetes_io_instance="oiq"';
  const other = (name: string): string => `namespace="${name}",app_kubernetes_io_instance="oiq"`;
  const sibling = 'namespace="observability",app_kubernetes_io_instance="test"';
  // Healthy series elsewhere do not hide the failing ones.
  const spec = find(manifests, 'PrometheusRule', 'oiq').spec as RuleFile;
  const failing = Object.entries(firing).map(([alert, series]) => ({
    rules: about(spec, alert),
    tests: [
      {
        input_series: [
          ...seriesOf(series, own),
          ...seriesOf(healthy, other('elsewhere')),
          ...seriesOf(healthy, sibling),
        ],
        promql_expr_test: [fires(alert)],
      },
    ],
  }));
  const troubles = Object.entries(firing).flatMap(([alert, series]) => seriesOf(series, other(alert)));
  const quiet = {
    input_series: [...seriesOf(healthy, own), ...troubles, ...seriesOf(firing['OiqIngestUnavailable'] ?? {}, sibling)],
    promql_expr_test: [firesNot],
  };
  t.is(await failureOf(t, [...failing, { rules: spec, tests: [quiet] }]), '');
  for (const { labels } of spec.groups[0]?.rules ?? [])
    t.like(labels, { namespace: 'observability', app_kubernetes_io_instance: 'oiq' });
  t.true(find(manifests, 'ServiceMonitor', 'oiq').spec.targetLabels.includes('app.kubernetes.io/instance'));
});

withTools('landing records of one signal do not hide that another signal does not land', async (t) => {
  const ingested = (signal: string) => ({
    [`oiq_ingest_records_total{receiver="otlp-http",signal="${signal}",outcome="accepted"}`]: '0+100x120',
  });
  const landed = { logs: 'logs', traces: 'spans', metrics: 'samples' };
  const series = (not: string): Record<string, string> =>
    Object.assign(
      {},
      ...Object.entries(landed).map(([signal, table]) => ({
        ...ingested(signal),
        ...(signal !== not && { [`oiq_landed_rows_total{table="${table}"}`]: '0+100x120' }),
      })),
    );
  const expr = 'sum by (signal) (ALERTS{alertname="OiqSinkStalled",alertstate="firing"})';
  const tests = ['none', ...Object.keys(landed)].map((not) => ({
    input_series: seriesOf(series(not)),
    promql_expr_test: [
      {
        expr,
        eval_time: '110m',
        exp_samples: not === 'none' ? [] : [{ labels: `{signal="${not}"}`, value: 1 }],
      },
    ],
  }));
  t.is(await failureOf(t, [{ rules: about(chartRules, 'OiqSinkStalled'), tests }]), '');
});

test('rules use only existing tables', (t) => {
  const spoken = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/\btable=~?"([^"]+)"/g)].flatMap(([, name = '']) => name.split('|')),
  );
  t.deepEqual(
    spoken.filter((name) => !allTables.some((table) => table.name === name)),
    [],
  );
});

test('rules use only metrics that the code declares', (t) => {
  const spoken = rules.flatMap(({ expr }) => [...expr.matchAll(/\boiq_[a-z_]+/g)].map(([name]) => name));
  const declared = Object.keys(metricDefinitions).flatMap((name) => [
    name,
    `${name}_bucket`,
    `${name}_sum`,
    `${name}_count`,
  ]);
  t.deepEqual(
    spoken.filter((name) => !declared.includes(name)),
    [],
  );
  for (const { alert, labels } of rules)
    if (alert !== undefined) t.regex(labels?.severity ?? '', /critical|warning|info/);
});

test('each alert states its impact, and has a runbook section', (t) => {
  const page = readFileSync(new URL('../../docs/operate/alerts.md', import.meta.url), 'utf8');
  const sections = new Map(page.split(/^## /m).map((part) => [part.split('\n', 1)[0], part]));
  for (const { alert, annotations } of rules) {
    if (alert === undefined) continue;
    t.regex(annotations?.description ?? '', /\w{3}.*\.$/, alert);
    t.true(sections.get(alert)?.includes(annotations?.description ?? '?'), alert);
    t.regex(sections.get(alert) ?? '', /^- .*\.$/m, alert);
  }
  t.is(sections.size - 1, alerts.length);
});

withTools('alerts link to their runbook if its address is configured', async (t) => {
  const values = ['monitoring.prometheusRule.enabled=true', 'monitoring.prometheusRule.runbookUrl=https://wiki/oiq'];
  const rulesOf = async (input: readonly string[]): Promise<Rule[]> => {
    const { manifests } = await render(input.flatMap((each) => ['--set', each]));
    return find(manifests, 'PrometheusRule', 'oiq').spec.groups[0].rules;
  };
  for (const { alert, annotations } of await rulesOf(values))
    if (alert !== undefined) t.like(annotations, { runbook_url: `https://wiki/oiq#${alert.toLowerCase()}` });
  t.false(JSON.stringify(await rulesOf(values.slice(0, 1))).includes('runbook_url'));
});

test('the handbook documents every metric and every alert', (t) => {
  const absent = [...Object.keys(metricDefinitions), ...alerts].filter((name) => !handbook.includes(`\`${name}\``));
  t.deepEqual(absent, []);
});
