/**
 * Series written by recording rules: they pass the bus and the metrics sink like received metrics, and land once, even
 * if republished.
 */
import test from 'ava';
import { Emissions, prepareValue, restoreMessages, saveMessages } from '../../processors/engine/emissions.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { Batch, Message, Producer } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { scanWriteRequest } from '../../schemas/prometheus/scan.ts';
import { encodeWriteRequest, type RecordedSeries, recordedSamples } from '../../schemas/recorded-samples.ts';
import { topics } from '../../schemas/topics.ts';
import { createBatchHandler } from '../../sinks/engine/run.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { metrics } from '../../sinks/metrics.ts';
import { openTables, type Tables } from './sink-tables.ts';

const atMs = Date.UTC(2026, 2, 1, 10, 0, 0, 123);

let tables: Tables;
let pool: ScanPool;
test.before(async () => {
  tables = await openTables();
  pool = new ScanPool(new URL('../../sinks/registry.ts', import.meta.url), 1);
});
test.after.always(() => Promise.all([tables.close(), pool.close()]));

const histogram = {
  schema: 1,
  zeroThreshold: 0.001,
  zeroCount: 0.5,
  count: 6.5,
  sum: 12.25,
  negativeSpans: [],
  negativeBuckets: [],
  positiveSpans: [{ offset: -2, length: 2 }],
  positiveBuckets: [2.5, 3.5],
};
const series = (name: string, value: RecordedSeries['value'], labels = {}): RecordedSeries => ({
  labels: { __name__: name, ...labels },
  value,
});
const all: readonly RecordedSeries[] = [
  series('job:up:sum', 3, { job: 'shop', 'service.name': 'kasse – été' }),
  series('job:up:sum', 0, { job: 'cart' }),
  series('job:nan', 'NaN'),
  series('job:inf', '-Inf'),
  series('job:gone', 'stale'),
  series('job:native', histogram),
];

/** Messages of one batch of an emitter, as the slot of a schedule stores and publishes them. */
const emitted = (
  tenantId: string,
  batch: number,
  recorded: readonly RecordedSeries[],
  projectIds = [''],
): Message[] => {
  const emissions = new Emissions(16);
  for (const projectId of projectIds)
    for (const one of recorded)
      emissions.add(
        prepareValue(recordedSamples, tenantId, { tenantId, projectId, atMs: atMs + batch, series: [one] }),
      );
  return restoreMessages(
    JSON.parse(JSON.stringify(saveMessages(emissions.drain(batch, { emitter: `emitter of ${tenantId}`, tick: 0 })))),
  );
};

let partitions = 0;
/** A partition of the topic, read by processes that have just started. */
const partition = () => {
  const own = ++partitions;
  let offset = 0;
  const producer: Producer = {
    publish: () => Promise.reject(new Error('a message went to the dead letter')),
    transaction: () => Promise.reject(new Error('a message went to the dead letter')),
    close: async () => {},
  };
  return async (messages: readonly Message[]): Promise<void> => {
    const first = offset;
    const records = messages.map(({ value, headers, key }) => ({
      offset: offset++,
      timestampMs: atMs,
      value: Buffer.from(value),
      headers,
      key,
    }));
    const batch: Batch = { topic: topics.remoteWrite.name, partition: own, first, last: offset - 1, records };
    const { columns } = tables;
    await createBatchHandler(metrics, {
      producer,
      columns,
      pool,
      metrics: silentMetrics,
      log: silentLog,
      clock: systemClock,
    })(batch);
  };
};

const samplesOf = async (tenantId: string): Promise<number> => {
  const [row] = await tables.read<{ rows: string }>(
    `SELECT toString((SELECT count() FROM samples WHERE tenant_id = '${tenantId}') + (SELECT count() FROM histograms WHERE tenant_id = '${tenantId}')) AS rows`,
  );
  return Number(row?.rows);
};

test('recorded series are requests that the remote-write receiver would accept', (t) => {
  const scanned = scanWriteRequest(1, encodeWriteRequest([{ atMs, series: [...all] }]));
  t.deepEqual([scanned.samples, scanned.histograms], [5, 1]);
});

test('recorded series land with their values, staleness markers and histograms, and PromQL reads them', async (t) => {
  await partition()(emitted('values', 1, all));
  const promql = openPromql({ size: 1 });
  t.teardown(() => promql.close());
  const at = async (expression: string) => {
    const { value } = await promql.evaluate({
      expression,
      window: { startMs: atMs + 1, endMs: atMs + 1, stepMs: 0, lookbackMs: 300_000 },
      scope: {
        columns: tables.columns.forTenant('values'),
        translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
      },
      retainedFromMs: 0,
    });
    return value.type === 'vector' ? value.elements.map(({ labels, value: own }) => [labels, own]) : [];
  };
  t.deepEqual(await at('job:up:sum'), [
    [{ __name__: 'job:up:sum', job: 'cart' }, 0],
    [{ __name__: 'job:up:sum', job: 'shop', 'service.name': 'kasse – été' }, 3],
  ]);
  t.deepEqual(await at('job:nan'), [[{ __name__: 'job:nan' }, Number.NaN]]);
  t.deepEqual(await at('job:inf'), [[{ __name__: 'job:inf' }, Number.NEGATIVE_INFINITY]]);
  t.deepEqual(await at('job:gone'), []);
  t.deepEqual(await at('histogram_sum(job:native) + histogram_count(job:native)'), [[{}, 18.75]]);
});

test('messages that a process publishes again after a crash land once, for any reader', async (t) => {
  const land = partition();
  const [one, two, three] = [1, 2, 3].map((batch) => emitted('again', batch, all)) as [Message[], Message[], Message[]];
  await land([...one, ...two]);
  await land(two);
  await land([...two, ...three]);
  await land([]);
  await land(three);
  t.is(await samplesOf('again'), 3 * all.length);
  const [ledger] = await tables.read<{ accepted: string; landed: string; keys: string[] }>(
    `SELECT toString(sum(records)) AS accepted, toString(sum(landed_records)) AS landed, groupUniqArray(key_id) AS keys
    FROM usage FINAL WHERE tenant_id = 'again' AND outcome = 'accepted'`,
  );
  t.deepEqual({ ...ledger, keys: [...(ledger?.keys ?? [])] }, { accepted: '18', landed: '18', keys: ['rules'] });
});

test('series of several projects that are emitted together land in their own projects', async (t) => {
  await partition()(emitted('projects', 1, all.slice(0, 2), ['', 'shop']));
  const rows = await tables.read<{ project: string; rows: string }>(
    `SELECT project_id AS project, toString(count()) AS rows FROM samples WHERE tenant_id = 'projects' GROUP BY project_id ORDER BY project`,
  );
  t.deepEqual(
    rows.map(({ project, rows: own }) => [project, own]),
    [
      ['', '2'],
      ['shop', '2'],
    ],
  );
});
