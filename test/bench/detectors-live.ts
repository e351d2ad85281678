/**
 * A detector with very many series of one organization, and one with three series of another, from records to stored
 * scores on embedded stores: the schedule, its bus, the processor with snapshots, and sinks.
 *
 *     node bin/node.mjs test/bench/detectors-live.ts [series] [minutes]
 *
 * First the history is trained. Then published points, scored values and stored rows are counted each minute. The clock
 * advances as fast as the work. CPU-seconds are those of the whole process; those of queries come from running them
 * again alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcessors } from '../../processors/index.ts';
import { parseQuery } from '../../queries/run.ts';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import type { AnomalyPoints } from '../../schemas/anomalies.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { anomalyDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { anomalyFeedback } from '../../schemas/resources/anomaly-feedback.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { topics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { DetectorFields } from '../../subjects/anomalies/detector.ts';
import { openEmbeddedStores } from './embedded-stores.ts';
import { table } from './report.ts';

const [series = 10_000, minutes = 10] = process.argv.slice(2, 4).map(Number);
const sizes = { many: series, few: 3 };
type Tenant = keyof typeof sizes;
const tenants = Object.keys(sizes) as Tenant[];
const minuteMs = 60_000;
/** With 10,000 series 700 steps are trained, in 18 minutes; with fewer series more steps. */
const trainedMinutes = Math.min(1440, Math.max(700, Math.floor(5_000_000 / series)));
/** The simulated clock stays ahead of the machine's, because schedules read up to the later of both. */
const startMs = Math.floor(Date.now() / minuteMs) * minuteMs + 3 * 60 * minuteMs;
const filledMinutes = trainedMinutes + 30 + minutes;
const untilMs = startMs + (30 + minutes) * minuteMs;

const { bus, documents, columns } = await openEmbeddedStores(tenants, {
  collections: [anomalyDetectors, anomalyFeedback],
  retentionDays: { logs: 1, traces: 1, metrics: 1 },
});
for (const tenant of tenants) {
  for (let from = 0; from < filledMinutes; from += 100)
    await columns.execute(`INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
      SELECT '${tenant}', 'default', at, 0, ${from}, number, at, at, concat('service-', toString(number % ${sizes[tenant]})), 9, '', 'a line', 's'
      FROM (SELECT number, toDateTime64(${untilMs / 1000}, 9, 'UTC') - 60 * (${from} + intDiv(number, ${sizes[tenant]})) - 1 - rand() % 50 AS at
        FROM numbers(${Math.min(100, filledMinutes - from) * sizes[tenant]}))`);
}
console.error('filled');

const figures = { begun: 0, ended: 0, passedBy: 0, dead: 0 };
const metrics = {
  ...silentMetrics,
  observe(name: string) {
    if (name === 'oiq_schedule_delay_seconds') figures.begun++;
  },
  add(name: string, value: number, { outcome = '' }: Readonly<Record<string, string>>) {
    if (name === 'oiq_schedule_runs_total' && outcome !== 'skipped') figures.ended += value;
    if (name === 'oiq_processor_limited_records_total') figures.passedBy += value;
    if (name === 'oiq_dead_letters_total') figures.dead += value;
  },
};
const report = (fields: object, text?: string): void => console.error(text, fields);
const log = { ...silentLog, warn: report, error: report };
const clock = { movedMs: 0, now: () => startMs + clock.movedMs };

/** The queries of the schedule, to be run again alone. */
const recordedQueries: (() => Promise<unknown>)[] = [];
let isRecording = false;
const remembered = (own: TenantColumns): TenantColumns => ({
  ...own,
  query: <Row>(...[sql, parameters]: Parameters<TenantColumns['query']>) => {
    if (isRecording) recordedQueries.push(() => own.query(sql, parameters));
    return own.query<Row>(sql, parameters);
  },
  queryNative: (...[sql, parameters]: Parameters<TenantColumns['queryNative']>) => {
    if (isRecording) recordedQueries.push(() => own.queryNative(sql, parameters));
    return own.queryNative(sql, parameters);
  },
});
const remembering = Object.assign(Object.create(columns) as typeof columns, {
  forTenant: (tenant: string) => remembered(columns.forTenant(tenant)),
});
const ports = { bus, documents, metrics, log, clock };
const sinkNames = ['anomaly-scores', 'anomalies', 'anomaly-looks', 'events'];
const sinks = await startSinks({ ...ports, columns, embedded: true, selectedNames: sinkNames, threads: 1 });
const role = await startProcessors({
  ...ports,
  columns: remembering,
  settings: parseSettings({}),
  only: ['anomaly-points', 'anomaly-scores'],
});
const detector = DetectorFields.parse({
  name: 'Records',
  query: parseQuery({ kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }], groupBy: ['service'] }),
});
for (const tenant of tenants)
  await documents
    .forTenant(tenant)
    .collection(anomalyDetectors)
    .insert({ id: `of-${tenant}`, ...detector, queryVersion: 1 });
await sleep(3000);

const lagsOf = async (name: string, topic: string): Promise<number> =>
  (await bus.lag(name, [topic])).reduce((sum, { lag }) => sum + lag, 0);
const isBehind = async (): Promise<boolean> => {
  const lags = await Promise.all([
    lagsOf(toConsumerGroup('processors', 'anomaly-scores'), topics.anomalyPoints.name),
    ...sinkNames.map((name) => lagsOf(toConsumerGroup('sinks', name), name)),
  ]);
  return lags.some((lag) => lag > 0);
};
/** Advances half a minute once nothing runs and all output is stored. Idle schedules poll once a second. */
const halfMinute = async (): Promise<void> => {
  clock.movedMs += minuteMs / 2;
  do {
    await sleep(1300);
    while (figures.ended < figures.begun) await sleep(20);
    // Values published together are saved before they are published.
    await sleep(300);
  } while (await isBehind());
};

const readUpTo = new Map<string, number>();
/** Values of a topic since the last call. */
const valuesOf = async <Value>(topic: string): Promise<Value[]> => {
  const values: Value[] = [];
  for (const { partition, end } of await bus.offsets(topic)) {
    const key = `${topic} ${partition}`;
    for await (const { value } of bus.read(topic, partition, readUpTo.get(key) ?? 0, end))
      values.push(...(JSON.parse(Buffer.from(value).toString()) as Value[]));
    readUpTo.set(key, end);
  }
  return values;
};
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
interface Counted {
  readonly tenantId: string;
}
const counted = <Value extends Counted>(values: readonly Value[], count: (value: Value) => number) =>
  Object.fromEntries(tenants.map((each) => [each, sum(values.filter(({ tenantId }) => tenantId === each).map(count))]));
const countPoints = async () => {
  const points = await valuesOf<AnomalyPoints>(topics.anomalyPoints.name);
  for (const { error } of points) if (error !== '') console.error(error);
  return {
    trained: counted(points, ({ mode, series: own }) =>
      mode === 'learning' ? sum(own.map(({ values }) => values.length)) : 0,
    ),
    live: counted(points, ({ mode, series: own }) =>
      mode === 'learning' ? 0 : sum(own.map(({ values }) => values.length)),
    ),
  };
};
const scored = async () =>
  counted(
    await valuesOf<Counted & { readonly series: readonly { readonly points: readonly unknown[] }[] }>(
      topics.anomalyScores.name,
    ),
    ({ series: own }) => sum(own.map(({ points }) => points.length)),
  );
const landed = async () => {
  const rows = await columns.query<{ tenant: string; rows: string; max: string }>(
    'SELECT tenant_id AS tenant, toString(count()) AS rows, toString(toUnixTimestamp(max(time))) AS max FROM anomaly_scores GROUP BY tenant',
  );
  return Object.fromEntries(rows.map(({ tenant, rows: count }) => [tenant, Number(count)]));
};
const isLearning = async (): Promise<boolean> => {
  const [row] = await columns.query<{ learning: string }>(
    `SELECT toString(countIf(learns_until_ms = 0)) AS learning FROM anomaly_looks FINAL`,
  );
  return row?.learning !== String(tenants.length);
};
const cpuSeconds = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
};

const learning = { evaluations: 0, cpu: 0, points: 0 };
do {
  learning.cpu += await cpuSeconds(halfMinute);
  learning.evaluations++;
  const { trained, live } = await countPoints();
  learning.points += trained['many'] ?? 0;
  console.error('learning', learning.evaluations, JSON.stringify({ learnt: trained, live }));
} while (await isLearning());
await scored();
let before = await landed();
const rows = [];
isRecording = true;
for (let minute = 1; minute <= minutes; minute++) {
  const cpu = await cpuSeconds(async () => {
    await halfMinute();
    await halfMinute();
  });
  const [{ live }, scores, now] = [await countPoints(), await scored(), await landed()];
  for (const each of tenants)
    rows.push({
      minute,
      organization: each,
      told: live[each] ?? 0,
      scored: scores[each] ?? 0,
      landed: (now[each] ?? 0) - (before[each] ?? 0),
      'CPU-s of the process': each === 'many' ? cpu.toFixed(2) : '',
    });
  console.error(JSON.stringify(rows.slice(-2)));
  before = now;
}
isRecording = false;
await Promise.all([role.stop(), sinks.stop()]);
const ofQuestions = await cpuSeconds(async () => {
  for (const runQuery of recordedQueries) await runQuery();
});
console.log(table(rows));
console.log(
  `${learning.points} points were learnt in ${learning.evaluations} looks, ${(learning.cpu / learning.evaluations).toFixed(2)} CPU-s each; ${figures.passedBy} messages were passed by, ${figures.dead} went to the dead letter`,
);
console.log(
  `${recordedQueries.length} statements, asked again alone: ${(ofQuestions / minutes).toFixed(2)} CPU-s a minute`,
);
process.exit();
