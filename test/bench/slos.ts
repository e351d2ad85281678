/**
 * The cost of measuring SLOs and evaluating their rules: 1,000 SLOs of one organization with four rules each, every
 * minute, on embedded stores; the job adds up days. During ingest: `slos-during-ingest.ts`.
 *
 *     node bin/node.mjs test/bench/slos.ts [objectives] [minutes] [real]
 *
 * The clock advances in steps, each as long as its work. With `real` it is the clock of the machine, so lateness
 * counts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcessors } from '../../processors/index.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { slos } from '../../schemas/resources/slo.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { startSinks } from '../../sinks/index.ts';
import { updateDaySums } from '../../sinks/slo-days.ts';
import { openEmbeddedStores } from './embedded-stores.ts';
import { fillObjectives, fillTelemetry } from './objectives.ts';

const [count = 1000, minutes = 20] = process.argv.slice(2, 4).map(Number);
const isReal = process.argv[4] === 'real';
const tenantId = 'a';
const minuteMs = 60_000;
/** The simulated clock stays ahead of the machine's, because schedules read up to the later of both. */
const aheadMs = isReal ? 0 : 3 * 60 * minuteMs;
const startMs = Math.floor(Date.now() / minuteMs) * minuteMs + aheadMs;
const untilMs = startMs + 3 * 60 * minuteMs;

const { bus, documents, columns } = await openEmbeddedStores([tenantId], {
  collections: [slos, alertRules],
  retentionDays: { logs: 2, traces: 2, metrics: 2 },
});
await fillTelemetry(columns, { tenantId, count, startMs, untilMs });
await fillObjectives({ documents, columns }, { tenantId, count, startMs });

/** Statements by what they read, with the number of result rows and milliseconds. */
const statements = new Map<string, { count: number; rows: number; ms: number }>();
const countStatements = (own: TenantColumns): TenantColumns => ({
  ...own,
  query: async <Row>(...of: Parameters<TenantColumns['query']>) => {
    const table = /FROM (\w+)( FINAL)?/.exec(of[0])?.[1] ?? 'others';
    const started = performance.now();
    const rows = await own.query<Row>(...of);
    const known = statements.get(table) ?? { count: 0, rows: 0, ms: 0 };
    statements.set(table, known);
    known.count++;
    known.rows += rows.length;
    known.ms += performance.now() - started;
    return rows;
  },
});
const countingColumns = Object.assign(Object.create(columns) as typeof columns, {
  forTenant: (tenant: string) => countStatements(columns.forTenant(tenant)),
});

const clock = { movedMs: 0, now: () => (isReal ? Date.now() : startMs + clock.movedMs) };
const figures = { begun: 0, ended: 0, failed: 0, delays: [] as number[], durations: [] as number[] };
const metrics = {
  ...silentMetrics,
  observe(name: string, value: number) {
    if (name === 'oiq_schedule_delay_seconds') {
      figures.begun++;
      figures.delays.push(value);
    }
    if (name === 'oiq_schedule_run_duration_seconds') figures.durations.push(value);
  },
  add(name: string, value: number, { outcome = '' }: Readonly<Record<string, string>>) {
    if (name !== 'oiq_schedule_runs_total') return;
    figures.ended += value;
    if (outcome !== 'success') figures.failed += value;
  },
};
const ports = { bus, documents, columns, metrics, log: silentLog, clock };
const sinks = await startSinks({
  ...ports,
  embedded: true,
  selectedNames: ['slo-slices', 'alert-evaluations'],
  threads: 1,
});
const role = await startProcessors({
  ...ports,
  columns: countingColumns,
  settings: parseSettings({}),
  only: ['slo-measurement', 'alert-evaluation'],
});
await sleep(3000);

/** Waits until nothing runs and all output is stored. */
const settled = async (before: number): Promise<void> => {
  await sleep(300);
  while (figures.ended < figures.begun) await sleep(20);
  if (figures.begun > before) await sleep(1200);
};
const minute = async (): Promise<void> => {
  if (isReal) return sleep(minuteMs);
  for (let step = 0; step < 24; step++) {
    const before = figures.begun;
    clock.movedMs += 2500;
    await settled(before);
  }
};
const quantile = (values: readonly number[], q: number): string =>
  (values.toSorted((one, other) => one - other)[Math.floor(q * (values.length - 1))] ?? 0).toFixed(2);
while ((await updateDaySums(columns, Date.now() + minuteMs)) > 0);
// The first minute includes startup costs.
await minute();
let seconds = 0;
figures.failed = 0;
const cpuSeconds: number[] = [];
statements.clear();
figures.delays.length = 0;
figures.durations.length = 0;
for (let at = 1; at <= minutes; at++) {
  const before = process.cpuUsage();
  await minute();
  if (at % 5 === 0) await updateDaySums(columns, Date.now() - 2 * minuteMs);
  const { user, system } = process.cpuUsage(before);
  cpuSeconds.push((user + system) / 1e6);
  seconds += (user + system) / 1e6;
  console.error(`${at}: ${cpuSeconds.at(-1)?.toFixed(2)} CPU-s`);
}
const runs = figures.durations.length;
const lateness = isReal
  ? `; begun late p99 ${quantile(figures.delays, 0.99)} s, took p99 ${quantile(figures.durations, 0.99)} s`
  : '';
console.log(
  `${count} objectives: ${(runs / minutes).toFixed(0)} runs a minute, ${figures.failed} failed, ${(seconds / minutes).toFixed(2)} CPU-s a minute (${quantile(cpuSeconds, 0)} to ${quantile(cpuSeconds, 1)}), ${((seconds / minutes / 60) * 100).toFixed(1)} % of a core${lateness}`,
);
for (const [table, { count: statementCount, rows, ms }] of statements)
  console.log(
    `${table}: a minute ${(statementCount / minutes).toFixed(1)} statements, ${(rows / minutes).toFixed(0)} rows, ${(ms / minutes).toFixed(0)} ms`,
  );
const [broken] = await columns.query<{ errors: string; example: string }>(
  `SELECT toString(countIf(error != '')) AS errors, anyIf(error, error != '') AS example FROM slo_looks FINAL`,
);
console.log(`objectives that could not be measured: ${broken?.errors} ${broken?.example}`);
await Promise.all([role.stop(), sinks.stop()]);
process.exit();
