/**
 * The cost of alert rules: one evaluation with 10,000 groups, and rules at one a minute in one process with embedded
 * stores.
 *
 *     node bin/node.mjs test/bench/alerts.ts [rules] [seconds] [logs|metrics|promql]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { answerOfValues, ruleOf } from '../cases/alert-evaluation.ts';
import { openAlertStores, tenantOf } from './alert-stores.ts';

const [count = '10000', seconds = '120', signal = 'metrics'] = process.argv.slice(2);

/** One evaluation of 10,000 groups that do not fire, and one of 10,000 that fire. */
for (const value of [1, 100]) {
  const values = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`service-${at}`, value]));
  const rule = ruleOf({ annotations: { summary: '{{ $labels.service }} has {{ $value }}' } });
  const result = answerOfValues(values);
  let prior = emptyState();
  const rounds = 10;
  const started = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const evaluation = evaluate({ tenantId: 'tenant', rule, prior, result, nowMs: round * 60_000 });
    prior = evaluation.state;
  }
  const { user, system } = process.cpuUsage(started);
  const bytes = JSON.stringify(prior).length;
  console.log(
    `10,000 groups at ${value}: ${((user + system) / 1000 / rounds).toFixed(1)} CPU-ms an evaluation, ${bytes} bytes of state`,
  );
}

const { bus, documents, columns } = await openAlertStores(10, { pastSeconds: 600, futureSeconds: 600 });
const queries: Readonly<Record<string, (index: number) => object>> = {
  metrics: (index) => ({
    kind: 'metric',
    metric: `m${index % 100}`,
    overTime: 'avg',
    across: 'max',
    groupBy: ['service'],
    ...(index % 2 === 0 && { search: `service:service-${index % 7}` }),
  }),
  promql: (index) => ({ kind: 'promql', expression: `max by (k) (max_over_time(m${index % 100}[5m])) > ${index % 9}` }),
  logs: (index) => ({
    kind: 'aggregate',
    signal: 'logs',
    measures: [{ function: 'count' }],
    search: `service:service-${index % 10} severityNumber:>${index % 20}`,
  }),
};
const queryOf = queries[signal] as (index: number) => object;
await documents.transaction(async (transaction) => {
  for (let index = 0; index < Number(count); index++) {
    const thresholds = [
      { severity: 'critical', ...(signal === 'promql' ? { operator: 'any' } : { operator: 'above', value: 1e9 }) },
    ];
    const {
      id: _,
      version: __,
      ...rule
    } = ruleOf({ name: `rule ${index}`, interval: '1m', condition: { query: queryOf(index), thresholds } });
    await transaction
      .forTenant(tenantOf(index % 10))
      .collection(alertRules)
      .insert({ ...rule, queryVersion: 1 });
  }
});

const delays: number[] = [];
const durations: number[] = [];
let failed = 0;
const metrics = {
  ...silentMetrics,
  observe(name: string, value: number) {
    if (name === 'oiq_schedule_delay_seconds') delays.push(value);
    if (name === 'oiq_schedule_run_duration_seconds') durations.push(value);
  },
  add(name: string, value: number, labels: Readonly<Record<string, string>>) {
    if (name === 'oiq_schedule_runs_total' && labels['outcome'] !== 'success') failed += value;
  },
};
const role = await startProcessors({
  bus,
  documents,
  columns,
  metrics,
  log: silentLog,
  clock: systemClock,
  settings: parseSettings({}),
  only: ['alert-evaluation'],
});
await sleep(30_000);
delays.length = 0;
durations.length = 0;
const started = process.cpuUsage();
const startedMs = performance.now();
await sleep(Number(seconds) * 1000);
const { user, system } = process.cpuUsage(started);
const elapsed = (performance.now() - startedMs) / 1000;
const cpu = (user + system) / 1e6;
const quantile = (values: readonly number[], q: number): string =>
  (values.toSorted((one, other) => one - other)[Math.floor(q * (values.length - 1))] ?? 0).toFixed(2);
const quantiles = (values: readonly number[]): string =>
  `p50 ${quantile(values, 0.5)} s, p99 ${quantile(values, 0.99)} s`;
console.log(
  `${count} rules over ${signal} at one a minute for ${elapsed.toFixed(0)} s: ${(durations.length / elapsed).toFixed(1)} evaluations/s, ` +
    `${((cpu * 1000) / durations.length).toFixed(2)} CPU-ms each, ${(cpu / elapsed).toFixed(2)} cores, ${failed} failed; begun late ${quantiles(delays)}, then took ${quantiles(durations)}; RSS ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`,
);
await role.stop();
process.exit();
