/** Contract of every sink, and of landing: real bus, real tables, injected faults. */
import { deepStrictEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { compressSnappy } from '../../schemas/compression.ts';
import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { Batch, Bus, BusRecord, Message, Producer } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns, NativeBlock } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { allTopics, topics } from '../../schemas/topics.ts';
import { createBatchHandler } from '../../sinks/engine/run.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { sinkGroups, startSinks } from '../../sinks/index.ts';
import { sinks } from '../../sinks/registry.ts';
import {
  logsRequest,
  messageOf,
  metricsRequest,
  openTables,
  receivedAtMs,
  type Tables,
  text,
  tracesRequest,
  writeRequest,
} from '../cases/sink-tables.ts';
import { eventually } from '../waiting.ts';
import { errorCountsSink } from './made-up-sink.ts';

let tables: Tables;
let pool: ScanPool;
test.before(async () => {
  tables = await openTables();
  pool = new ScanPool(new URL('../../sinks/registry.ts', import.meta.url), 1);
});
test.after.always(async () => {
  await pool.close();
  await tables.close();
});

const logOf = (body: string): Uint8Array =>
  logsRequest({
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', 'cart')] },
        scopeLogs: [{ logRecords: [{ body: { stringValue: body } }] }],
      },
    ],
  });

/** Consecutive records of a partition, one log record each; the records at the offsets in `garbage` are invalid. */
const batchOf = (tenantId: string, first: number, count: number, garbage: readonly number[] = []): Batch => ({
  topic: topics.logs.name,
  partition: 0,
  first,
  last: first + count - 1,
  records: Array.from({ length: count }, (_, index): BusRecord => {
    const offset = first + index;
    const body = garbage.includes(offset) ? Uint8Array.of(0x0a, 99, 1) : logOf(`${tenantId} ${offset}`);
    const { headers, value } = messageOf([body], { tenantId, offset });
    return { offset, timestampMs: 1, key: tenantId, headers, value: Buffer.from(value) };
  }),
});

/** A handler as a new process has it. `insert` wraps the inserts into its tables. */
const handlerOf = (
  insert: (block: NativeBlock, token: string, next: Columns['insert']) => Promise<void> = (block, token, next) =>
    next(block, token),
  published: Message[] = [],
) => {
  const next: Columns['insert'] = (block, token) => tables.columns.insert(block, token);
  const columns: Columns = {
    insert: (block, token) => insert(block, token, next),
    recordWatermark: (...landings) => tables.columns.recordWatermark(...landings),
    forTenant: (tenantId) => tables.columns.forTenant(tenantId),
    query: (sql, parameters, limits) => tables.columns.query(sql, parameters, limits),
    execute: (sql) => tables.columns.execute(sql),
    listServers: () => tables.columns.listServers(),
    handleTablesChanged: () => tables.columns.handleTablesChanged(),
    check: () => tables.columns.check(),
    close: async () => {},
  };
  const producer: Producer = {
    publish: async (messages) => void published.push(...messages),
    transaction: async (_name, work) => work(async (messages) => void published.push(...messages)),
    close: async () => {},
  };
  const [logs] = sinks;
  if (logs === undefined) throw new Error('there is no sink');
  return createBatchHandler(logs, {
    columns,
    producer,
    pool,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
  });
};

/** Every landed body of a tenant, including duplicates; the ledger and the field counts must match. */
const bodies = async (tenantId: string): Promise<string[]> => {
  const rows = await tables.read<{ body: string }>(
    `SELECT body FROM logs WHERE tenant_id = '${tenantId}' ORDER BY offset`,
  );
  const counted = await tables.read<{ accepted: string; landed: string }>(
    `SELECT sum(records) AS accepted, sum(landed_records) AS landed FROM usage FINAL WHERE tenant_id = '${tenantId}'`,
  );
  deepStrictEqual(counted, [{ accepted: String(rows.length), landed: String(rows.length) }]);
  const fields = await tables.read<{ all: string; named: string }>(
    `SELECT sumIf(records, kind = 'record') AS all, sumIf(records, kind = 'resource' AND key = 'service.name') AS named FROM fields WHERE tenant_id = '${tenantId}'`,
  );
  deepStrictEqual(fields, [{ all: String(rows.length), named: String(rows.length) }]);
  return rows.map(({ body }) => body);
};
const expected = (tenantId: string, ...offsets: number[]): string[] => offsets.map((offset) => `${tenantId} ${offset}`);
let tokens = 0;
/** Forgets the tokens, as after more inserts than the table remembers. */
const forgetful: Parameters<typeof handlerOf>[0] = (block, token, next) => next(block, `${token}:${++tokens}`);

for (const sink of [...sinks, errorCountsSink]) {
  test(`${sink.name}: every column of its tables is written`, async (t) => {
    await t.notThrowsAsync(sink.scanner());
  });

  test(`${sink.name}: an invalid message is refused and leaves nothing behind`, async (t) => {
    const { rejected, rows } = await tables.land(
      [
        { offset: 0, headers: {}, value: Buffer.from('nothing') },
        messageOf([Buffer.from([0xff, 0xff, 0xff, 0xff])], { tenantId: 'garbage', offset: 1 }),
        { ...messageOf([logOf('short')], { tenantId: 'garbage', offset: 2 }), value: Buffer.alloc(0) },
      ],
      { scanner: await sink.scanner() },
    );
    t.deepEqual(
      rejected.map(({ index }) => index),
      [0, 1, 2],
    );
    t.deepEqual(rows, {});
  });
}

test('consumer groups are named after role and sink, and no topic is read by two of them', (t) => {
  t.deepEqual(
    sinkGroups.map(({ group }) => group),
    sinks.map(({ name }) => `sinks.${name}`),
  );
  const read = sinkGroups.flatMap((group) => group.topics);
  t.is(new Set(read).size, read.length);
});

test('a redelivered range lands once', async (t) => {
  const handle = handlerOf();
  const batch = batchOf('repeated', 1_000, 3);
  await handle(batch);
  await handle(batch);
  await handlerOf()(batch);
  t.deepEqual(await bodies('repeated'), expected('repeated', 1_000, 1_001, 1_002));
});

test('a range whose insert was not confirmed lands once', async (t) => {
  let failures = 1;
  const handle = handlerOf(async (block, token, next) => {
    await next(block, token);
    if (block.table === 'logs' && failures-- > 0) throw new UnavailableError('the answer was lost');
  });
  const batch = batchOf('unconfirmed', 2_000, 3);
  await t.throwsAsync(handle(batch), { message: 'the answer was lost' });
  await handle(batch);
  t.deepEqual(await bodies('unconfirmed'), expected('unconfirmed', 2_000, 2_001, 2_002));
  const resources = await tables.read(`SELECT service FROM resources FINAL WHERE tenant_id = 'unconfirmed'`);
  t.deepEqual(resources, [{ service: 'cart' }]);
});

test('the watermark of a tenant is published once its range has landed, and not before', async (t) => {
  const watermarkOf = (tenantId: string) => tables.columns.forTenant(tenantId).getStoredUpToMs('logs');
  let failures = 1;
  const seen: unknown[] = [];
  const handle = handlerOf(async (block, token, next) => {
    await next(block, token);
    seen.push(await watermarkOf('telling'));
    if (block.table === 'usage' && failures-- > 0) throw new UnavailableError('the answer was lost');
  });
  const batch = batchOf('telling', 2_500, 3);
  await t.throwsAsync(handle(batch), { message: 'the answer was lost' });
  t.is(await watermarkOf('telling'), undefined);
  await handle(batch);
  t.true(seen.length > 2);
  t.true(seen.every((each) => each === undefined));
  t.is(await watermarkOf('telling'), receivedAtMs);
  t.is(await watermarkOf('repeated-not'), undefined);
});

test('an in-doubt range lands once if the tables have forgotten its token', async (t) => {
  const batch = batchOf('forgotten', 3_000, 3);
  await handlerOf(forgetful)(batch);
  await handlerOf(forgetful)(batch);
  t.deepEqual(await bodies('forgotten'), expected('forgotten', 3_000, 3_001, 3_002));
});

test('a range of one message is in doubt when it is redelivered in the same process', async (t) => {
  const handle = handlerOf(forgetful);
  const batch = batchOf('forgotten-one', 3_500, 1);
  await handle(batch);
  await handle(batch);
  t.deepEqual(await bodies('forgotten-one'), expected('forgotten-one', 3_500));
});

test('the missing part of a partly landed range is added', async (t) => {
  await handlerOf(forgetful)(batchOf('part', 4_001, 2));
  await handlerOf(forgetful)(batchOf('part', 4_000, 6));
  t.deepEqual(await bodies('part'), expected('part', 4_000, 4_001, 4_002, 4_003, 4_004, 4_005));
  await handlerOf(forgetful)(batchOf('across', 4_101, 3));
  await handlerOf(forgetful)(batchOf('across', 4_100, 6));
  t.deepEqual(await bodies('across'), expected('across', 4_100, 4_101, 4_102, 4_103, 4_104, 4_105));
});

test('a poison message among valid messages goes to the dead letter queue, and the others land', async (t) => {
  const published: Message[] = [];
  const batch = batchOf('poison', 5_000, 1_000, [5_333]);
  await handlerOf(undefined, published)(batch);
  await handlerOf(undefined, published)(batch);
  t.is((await bodies('poison')).length, 999);
  const [first, second] = published.map(({ headers }) => decodeDeadLetter(headers));
  t.is(published.length, 2);
  t.like(first, {
    origin: 'sinks.logs',
    kind: 'unprocessable',
    reason: 'malformed',
    offset: 5_333,
    tenantId: 'poison',
  });
  t.is(first?.id, second?.id, 'a redelivery writes the same dead letter');
  t.deepEqual(published[0]?.value, batch.records[333]?.value);
});

test('a message that the tables refuse is identified among the others', async (t) => {
  const published: Message[] = [];
  const refusing = handlerOf(async (block, token, next) => {
    const bytes = Buffer.concat(block.chunks);
    if (bytes.includes('refused 6017')) throw new PermanentError('bad-rows', 'the table cannot take this');
    await next(block, token);
  }, published);
  await refusing(batchOf('refused', 6_000, 40));
  t.is((await bodies('refused')).length, 39);
  t.deepEqual(
    published.map(({ headers }) => decodeDeadLetter(headers).offset),
    [6_017],
  );
});

test('when more than a tenth of the messages cannot be processed, the batch is rejected and none of them is moved', async (t) => {
  const published: Message[] = [];
  const batch = batchOf('fuse', 7_000, 40, [7_001, 7_002, 7_003, 7_004, 7_005]);
  const error = await t.throwsAsync(handlerOf(undefined, published)(batch));
  t.regex(error?.message ?? '', /logs could not process 5 of the last 40 messages/);
  t.deepEqual(published, []);
});

test('a replayed message of another group is ignored, and one of this group under its former name is not', async (t) => {
  const onlyGroups = ['sinks.logs', 'logs', 'processors.logs', 'log-patterns'];
  const batch = batchOf('replayed', 8_000, 4);
  const records = batch.records.map((record, index) => ({
    ...record,
    headers: { ...record.headers, 'only-group': onlyGroups[index] ?? '' },
  }));
  await handlerOf()({ ...batch, records });
  t.deepEqual(await bodies('replayed'), expected('replayed', 8_000, 8_001));
});

test('compressed members land, and a member above the maximum message size is refused', async (t) => {
  const published: Message[] = [];
  const [good, large] = [compressSnappy(logOf('small')), compressSnappy(Buffer.alloc(17 * 1024 * 1024))];
  const records = [good, large].map((body, index): BusRecord => {
    const { headers, value } = messageOf([body], { tenantId: 'large', encoding: 'snappy' });
    return { offset: 9_000 + index, timestampMs: 1, key: 'large', headers, value: Buffer.from(value) };
  });
  await handlerOf(undefined, published)({ topic: topics.logs.name, partition: 0, first: 9_000, last: 9_001, records });
  t.deepEqual(await bodies('large'), ['small']);
  t.deepEqual(
    published.map(({ headers }) => decodeDeadLetter(headers).reason),
    ['too-large'],
  );
});

const drained = async (bus: Bus): Promise<boolean> => {
  for (const { group, topics: names } of sinkGroups) {
    if ((await bus.lag(group, names)).some(({ lag }) => lag > 0)) return false;
  }
  return true;
};

test('all messages on the bus are in the tables, dead letters included, and are committed', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-sinks-bus-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const bus = await openSegmentsBus({ directory });
  t.teardown(() => bus.close());
  await bus.ensureTopics(allTopics);
  const producer = await bus.producer();
  const tenantId = 'bus';
  const to = (topic: string, body: Uint8Array, headers: Parameters<typeof messageOf>[1] = {}): Message => ({
    topic,
    key: tenantId,
    ...messageOf([body], { tenantId, ...headers }),
  });
  const label = (name: string, value: string): object => ({ name, value });
  await producer.publish([
    to('otlp.logs', logOf('over the bus')),
    to('otlp.logs', Uint8Array.of(7)),
    to('otlp.traces', tracesRequest({ resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'span' }] }] }] })),
    to(
      'otlp.metrics',
      metricsRequest({
        resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints: [{ asInt: '1' }] } }] }] }],
      }),
    ),
    to(
      'prometheus.remote-write',
      compressSnappy(
        writeRequest(1, {
          timeseries: [{ labels: [label('__name__', 'up')], samples: [{ value: 1, timestamp: '1' }] }],
        }),
      ),
      { format: 'remote-write-1', encoding: 'snappy' },
    ),
  ]);
  const role = await startSinks({
    bus,
    columns: tables.columns,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
    embedded: true,
    threads: 1,
  });
  await role.checkReady();
  const count = async (table: string): Promise<number> => {
    const [row] = await tables.read<{ rows: string }>(`SELECT count() AS rows FROM ${table} WHERE tenant_id = 'bus'`);
    return Number(row?.rows);
  };
  await eventually('the dead letter to land', async () => (await count('dead_letters')) === 1 && (await drained(bus)));
  await role.stop();
  await role.failure;
  t.deepEqual(await Promise.all(['logs', 'spans', 'samples', 'dead_letters'].map(count)), [1, 1, 2, 1]);
  t.deepEqual(await tables.read(`SELECT metric, partition FROM samples WHERE tenant_id = 'bus' ORDER BY metric`), [
    { metric: 'm', partition: 0 },
    { metric: 'up', partition: 32_768 },
  ]);
  const [deadLetter] = await tables.read(
    `SELECT origin, reason, kind, chunks, size FROM dead_letters WHERE tenant_id = 'bus'`,
  );
  t.deepEqual(deadLetter, { origin: 'sinks.logs', reason: 'malformed', kind: 'unprocessable', chunks: 1, size: '1' });
});

test('a scan whose thread ends is rejected, and so is a scan after close', async (t) => {
  const ending = new ScanPool(new URL('../../sinks/registry.ts', import.meta.url), 1);
  const { records } = batchOf('ending', 10_000, 1);
  const scan = ending.scan('logs', topics.logs.name, 0, records);
  await Promise.all([t.throwsAsync(scan, { message: /a scan thread exited/ }), ending.close()]);
  await t.throwsAsync(ending.scan('logs', topics.logs.name, 0, records), { message: 'the sinks are stopping' });
});
