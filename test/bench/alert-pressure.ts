/**
 * How often rules of one organization are evaluated if there are more than the machine can handle. Logs, spans, metrics
 * and PromQL in equal parts, four windows, three delays, one evaluation per minute each. An evaluation counts when it
 * is published.
 *
 *     node bin/node.mjs test/bench/alert-pressure.ts [rules] [minutes] [busy loops]
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startProcessors } from '../../processors/index.ts';
import type { AlertEvaluation } from '../../schemas/alerts.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { topics } from '../../schemas/topics.ts';
import { ruleOf } from '../cases/alert-evaluation.ts';
import { openAlertStores, tenantOf } from './alert-stores.ts';

const [rules = 2000, minutes = 30, loops = 6] = process.argv.slice(2).map(Number);
const windows = ['5m', '10m', '15m', '30m'] as const;
const delays = ['0s', '15s', '30s'] as const;
const queries: readonly ((index: number) => object)[] = [
  (index) => ({
    kind: 'aggregate',
    signal: 'logs',
    measures: [{ function: 'count' }],
    search: `service:service-${index % 10} severityNumber:>${index % 20}`,
  }),
  (index) => ({
    kind: 'aggregate',
    signal: 'traces',
    search: `service:service-${index % 10} duration:>${index % 90}ms`,
    measures: [{ function: 'percentile', percentile: 95, field: 'duration' }],
  }),
  (index) => ({ kind: 'metric', metric: `m${index % 100}`, overTime: 'avg', across: 'max', groupBy: ['service'] }),
  (index) => ({ kind: 'promql', expression: `max by (k) (max_over_time(m${index % 100}[5m])) > ${index % 9}` }),
];

const futureSeconds = (minutes + 10) * 60;
const { bus, documents, columns } = await openAlertStores(1, { pastSeconds: 2400, futureSeconds });
await documents.transaction(async (transaction) => {
  for (let index = 0; index < rules; index++) {
    const kind = index % queries.length;
    const at = Math.floor(index / queries.length);
    const threshold = kind === 3 ? { operator: 'any' } : { operator: 'above', value: 1e12 };
    const window = windows[at % windows.length];
    const condition = { query: queries[kind]?.(at), window, thresholds: [{ severity: 'error', ...threshold }] };
    const ruleFields = {
      name: `rule ${index}`,
      interval: '1m',
      delay: delays[Math.floor(at / windows.length) % delays.length],
      condition,
    };
    const { id: _id, version: _version, ...rule } = ruleOf(ruleFields);
    await transaction
      .forTenant(tenantOf(0))
      .collection(alertRules)
      .insert({ ...rule, queryVersion: 1 });
  }
});
const ids = new Set<string>();
for await (const { id } of documents.findInAllTenants(alertRules)) ids.add(id);

const busy = Array.from({ length: loops }, () => new Worker('for (;;);', { eval: true }));
const role = await startProcessors({
  bus,
  documents,
  columns,
  metrics: silentMetrics,
  log: silentLog,
  clock: systemClock,
  settings: parseSettings({}),
  only: ['alert-evaluation'],
});

/** The last evaluation of each rule, and the longest time between two evaluations. */
const lastMs = new Map<string, number>();
const longestMs = new Map<string, number>();
let evaluations = 0;
let failed = 0;
const latenessMs: number[] = [];
const consumer = bus.createConsumer({ group: 'bench', maxWaitMs: 500 });
const reader = consumer.run([topics.alertEvaluations.name], async ({ records }) => {
  for (const { value } of records)
    for (const evaluation of JSON.parse(value.toString()) as AlertEvaluation[]) {
      if (evaluation.part !== 0) continue;
      evaluations++;
      if (evaluation.error !== '' && failed++ === 0) console.log(`the first that failed: ${evaluation.error}`);
      latenessMs.push(evaluation.lateMs);
      const nowMs = evaluation.atMs + evaluation.lateMs;
      longestMs.set(
        evaluation.ruleId,
        Math.max(longestMs.get(evaluation.ruleId) ?? 0, nowMs - (lastMs.get(evaluation.ruleId) ?? nowMs)),
      );
      lastMs.set(evaluation.ruleId, nowMs);
    }
});
const startedMs = Date.now();
const quantile = (values: readonly number[], q: number): string =>
  ((values.toSorted((one, other) => one - other)[Math.floor(q * (values.length - 1))] ?? 0) / 1000).toFixed(0);
for (let minute = 1; minute <= minutes; minute++) {
  await sleep(60_000);
  const sinceLast = [...ids].map((id) => Date.now() - (lastMs.get(id) ?? startedMs));
  console.log(
    `${minute} min: ${evaluations} evaluations, ${failed} failed; told after p50 ${quantile(latenessMs, 0.5)} s, p99 ${quantile(latenessMs, 0.99)} s; oldest ${quantile(sinceLast, 1)} s; longest between two ${quantile([...longestMs.values()], 1)} s; ${[...ids].filter((id) => !lastMs.has(id)).length} never`,
  );
}
const over = [...ids].filter(
  (id) => !lastMs.has(id) || Math.max(longestMs.get(id) ?? 0, Date.now() - (lastMs.get(id) ?? 0)) > 180_000,
);
console.log(`${over.length} of ${ids.size} rules were not evaluated for more than three minutes`);
await Promise.all(busy.map((loop) => loop.terminate()));
await consumer.stop();
await reader;
await role.stop();
process.exit();
