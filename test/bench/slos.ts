/**
 * What measuring objectives and evaluating their rules takes: 1,000 objectives of one organization with four rules each, every minute, on embedded
 * stores; days are summed up as the job does. `node test/bench/slos.ts [objectives] [minutes] [real]`. The clock is moved in steps, each of which takes as long as its work; with `real` it is
 * the machine's, so that lateness counts. Of five objectives of a service three are of its requests and two of its log records.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { segmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { chdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { sqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { encodeSlot } from '../../processors/engine/schedule-snapshot.ts';
import { phaseOf, slotOf, thingKey } from '../../processors/engine/schedule-times.ts';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { openStates } from '../../runtime/states.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { silent } from '../../schemas/ports/log.ts';
import { noMetrics } from '../../schemas/ports/metrics.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { slos } from '../../schemas/resources/slo.ts';
import { settingsOf } from '../../schemas/settings.ts';
import { allTopics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { sumUpDays } from '../../sinks/slo-days.ts';
import { alertRulesOf } from '../../subjects/slos/alert-rules.ts';
import { SloFields } from '../../subjects/slos/document.ts';
import { seriesOf } from '../../subjects/slos/looks.ts';
import { readSlo } from '../../subjects/slos/stored.ts';
import { scratch } from './scratch.ts';

const [count = 1000, minutes = 20] = process.argv.slice(2, 4).map(Number);
const isReal = process.argv[4] === 'real';
const ofService = 5;
const services = Math.ceil(count / ofService);
const tenantId = 'a';
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
/** The moved clock stays ahead of the machine's: schedules read up to the later of both. */
const aheadMs = isReal ? 0 : 3 * 60 * minuteMs;
const startMs = Math.floor(Date.now() / minuteMs) * minuteMs + aheadMs;
const untilMs = startMs + 3 * 60 * minuteMs;

const directory = scratch();
const bus = await segmentsBus({ directory: join(directory, 'bus') });
const documents = await sqliteDocuments({ path: join(directory, 'documents.sqlite') });
const columns = await chdbColumns({ directory: join(directory, 'columns') });
await migrate(columns, silent);
await bus.ensureTopics([...allTopics, ...scheduleTopics]);
await documents.ensureCollections([slos, alertRules, organizations, plans, processorStates, processorStateChunks]);
const kept = { logs: 2, traces: 2, metrics: 2 };
await documents
  .of(plansTenant)
  .collection(plans)
  .insert({ id: 'plan', ...(defaultPlans['enterprise'] as Plan), retentionDays: kept });
await documents
  .of(organizationsTenant)
  .collection(organizations)
  .insert({ id: tenantId, name: 'A', planId: 'plan', retentionDays: {}, shards: 1, disabled: false });

const filledMs = untilMs - startMs + dayMs;
const filledMinutes = filledMs / minuteMs;
const end = `toDateTime(${untilMs / 1000}, 'UTC')`;
await columns.execute(`INSERT INTO span_metrics (tenant_id, project_id, day, minute, service, endpoint, kind, requests, errors, duration_sum, duration_max, duration_buckets, error_buckets)
  SELECT '${tenantId}', 'default', today(), ${end} - 60 * (1 + intDiv(number, ${services * 4})), concat('service-', toString(intDiv(number, 4) % ${services})),
    concat('GET /', toString(number % 4)), 2, 1000, number % 7 = 0, 1e11, 1e9, map(200, 500, 220, 400, 240, 100), map(200, number % 7 = 0)
  FROM numbers(${filledMinutes * services * 4})`);
const logsOfService = filledMinutes * 6;
await columns.execute(`INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
  SELECT '${tenantId}', 'default', now64(3), 0, 1, number, toDateTime64(${untilMs / 1000}, 9) - 10 * intDiv(number, ${services}) - 1, now64(9), concat('service-', toString(number % ${services})),
    if(intDiv(number, ${services}) % 50 = 0, 17, 9), '', 'a line', 's' FROM numbers(${logsOfService * services})`);

const counted = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const kinds: readonly ((service: string) => object)[] = [
  () => ({}),
  () => ({ type: 'latency', latencyThresholdMs: 300 }),
  () => ({ type: 'latency', latencyThresholdMs: 1000 }),
  ...['error', 'warn'].map((severity) => (service: string) => ({
    type: 'ratio',
    query: { sli: { bad: counted(`service:${service} severity:${severity}`), total: counted(`service:${service}`) } },
  })),
];
await documents.transaction(async (transaction) => {
  const own = transaction.of(tenantId);
  for (let index = 0; index < count; index++) {
    const service = `service-${Math.floor(index / ofService)}`;
    const slo = SloFields.parse({ name: `slo ${index}`, service, ...kinds[index % ofService]?.(service) });
    const id = `slo-${index}`;
    await own.collection(slos).insert({ id, ...slo, queryVersion: 1 });
    for (const [ruleId, rule] of alertRulesOf(id, slo))
      await own.collection(alertRules).insert({ id: ruleId, ...rule, queryVersion: 1 });
  }
});

/** As if all had been measured for two days, since many objectives are made at once seldom. */
const measuredMs = startMs - 2 * dayMs;
const saved = new Map<number, Map<string, { born: string; dueMs: number; state: string }>>();
const found = (await documents.of(tenantId).collection(slos).list({ limit: count })).items;
const seriesOfKind = kinds.map(() => new Map<string, string>());
for (const document of found) {
  const slo = readSlo(document);
  if (slo === undefined) throw new Error('an objective cannot be read');
  const index = Number(document.id.slice('slo-'.length));
  seriesOfKind[index % ofService]?.set(`service-${Math.floor(index / ofService)}`, seriesOf(slo));
  const key = thingKey(tenantId, document.id);
  const slot = slotOf(phaseOf(key));
  const state = { series: seriesOf(slo), fromMs: measuredMs, upToMs: startMs, lateMs: startMs, allMs: startMs };
  const things = saved.get(slot) ?? new Map();
  saved.set(slot, things.set(key, { born: document.createdAt, dueMs: startMs, state: JSON.stringify(state) }));
}
const states = openStates({ documents, clock: { now: () => startMs } });
for (const [slot, things] of saved) {
  const empty = { stateVersion: 1, emitter: `bench-${slot}`, emitted: 0, outbox: [] };
  await states.save(`schedules/slo-measurement/${slot}`, encodeSlot({ ...empty, things }), undefined);
}
const list = (values: Iterable<string>): string => `[${[...values].map((value) => `'${value}'`).join(', ')}]`;
const goods = [
  'sum(requests) - sum(errors)',
  'toUInt64(sum(requests) * 0.9) - sum(errors)',
  'toUInt64(sum(requests) * 0.9) - sum(errors)',
  'countIf(severity_number < 17)',
  'count()',
];
for (const [kind, series] of seriesOfKind.entries()) {
  const [table, minute, all] =
    kind < 3 ? ['span_metrics', 'minute', 'sum(requests)'] : ['logs', 'toStartOfMinute(timestamp)', 'count()'];
  await columns.execute(`INSERT INTO slo_slices (tenant_id, slo_id, series, begin, good, total, look_ms)
    SELECT '${tenantId}', concat('slo-', toString(toUInt32(splitByChar('-', toString(service))[2]) * ${ofService} + ${kind})),
      transform(toString(service), ${list(series.keys())}, ${list(series.values())}, ''), toDateTime(${minute}, 'UTC') AS slice, ${goods[kind]}, ${all}, 1
    FROM ${table} WHERE ${minute} < toDateTime(${startMs / 1000}, 'UTC') GROUP BY service, slice`);
}

/** Statements by what they read, rows that they answered, and milliseconds until they did. */
const statements = new Map<string, { count: number; rows: number; ms: number }>();
const told = (own: TenantColumns): TenantColumns => ({
  ...own,
  query: async <Row>(...of: Parameters<TenantColumns['query']>) => {
    const table = /FROM (\w+)( FINAL)?/.exec(of[0])?.[1] ?? 'others';
    const begun = performance.now();
    const rows = await own.query<Row>(...of);
    const known = statements.get(table) ?? { count: 0, rows: 0, ms: 0 };
    statements.set(table, known);
    known.count++;
    known.rows += rows.length;
    known.ms += performance.now() - begun;
    return rows;
  },
});
const tellingColumns = Object.assign(Object.create(columns) as typeof columns, {
  of: (tenant: string) => told(columns.of(tenant)),
});

const clock = { movedMs: 0, now: () => (isReal ? Date.now() : startMs + clock.movedMs) };
const figures = { begun: 0, ended: 0, failed: 0, delays: [] as number[], durations: [] as number[] };
const metrics = {
  ...noMetrics,
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
const ports = { bus, documents, columns, metrics, log: silent, clock };
const sinks = await startSinks({ ...ports, embedded: true, only: ['slo-slices', 'alert-evaluations'], threads: 1 });
const role = await startProcessors({
  ...{ ...ports, columns: tellingColumns, settings: settingsOf({}) },
  only: ['slo-measurement', 'alert-evaluation'],
});
await sleep(3000);

/** Until nothing runs, and what it told has landed. */
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
while ((await sumUpDays(columns, Date.now() + minuteMs)) > 0);
// The first minute has what all processes begin with.
await minute();
let seconds = 0;
figures.failed = 0;
const most: number[] = [];
statements.clear();
figures.delays.length = 0;
figures.durations.length = 0;
for (let at = 1; at <= minutes; at++) {
  const before = process.cpuUsage();
  await minute();
  if (at % 5 === 0) await sumUpDays(columns, Date.now() - 2 * minuteMs);
  const { user, system } = process.cpuUsage(before);
  most.push((user + system) / 1e6);
  seconds += (user + system) / 1e6;
  console.error(`${at}: ${most.at(-1)?.toFixed(2)} CPU-s`);
}
const runs = figures.durations.length;
const lateness = isReal
  ? `; begun late p99 ${quantile(figures.delays, 0.99)} s, took p99 ${quantile(figures.durations, 0.99)} s`
  : '';
console.log(
  `${count} objectives: ${(runs / minutes).toFixed(0)} runs a minute, ${figures.failed} failed, ${(seconds / minutes).toFixed(2)} CPU-s a minute (${quantile(most, 0)} to ${quantile(most, 1)}), ${((seconds / minutes / 60) * 100).toFixed(1)} % of a core${lateness}`,
);
for (const [table, { count: asked, rows, ms }] of statements)
  console.log(
    `${table}: a minute ${(asked / minutes).toFixed(1)} statements, ${(rows / minutes).toFixed(0)} rows, ${(ms / minutes).toFixed(0)} ms`,
  );
const [broken] = await columns.query<{ errors: string; example: string }>(
  `SELECT toString(countIf(error != '')) AS errors, anyIf(error, error != '') AS example FROM slo_looks FINAL`,
);
console.log(`objectives that could not be measured: ${broken?.errors} ${broken?.example}`);
await Promise.all([role.stop(), sinks.stop()]);
process.exit();
