/** Up to which time results are complete: sinks report landing times, so that no records are read for it. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { StoredWatermarks } from '../../adapters/columns-sql/watermarks.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { run } from '../../queries/run.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { getNewestReceivedMs } from '../../schemas/telemetry-message.ts';
import { eventually } from '../waiting.ts';
import { logsRequest, messageOf, openTables, receivedAtMs, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const range = { from: BigInt(receivedAtMs - 60_000) * 1_000_000n, to: BigInt(receivedAtMs) * 1_000_000n };
const counted: QueryRequest = { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] };
const isoOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '000000Z');
const recordLanded = (tenantId: string, newestMs: number): void =>
  tables.columns.recordWatermark('logs', new Map([[tenantId, newestMs]]));

/** The columns of a tenant, and the statements that ran on them, except those that explain an empty result. */
const watched = (tenantId: string): { columns: TenantColumns; statements: string[] } => {
  const own = tables.columns.forTenant(tenantId);
  const statements: string[] = [];
  return {
    statements,
    columns: {
      ...own,
      query: (sql, ...rest) => {
        if (!sql.includes('FROM fields')) statements.push(sql);
        return own.query(sql, ...rest);
      },
    },
  };
};

const freshnessOf = async (columns: TenantColumns, nowMs = receivedAtMs + 1_000, query = counted) =>
  (await run(query, { columns, plan: defaultPlans['enterprise'] as Plan, nowMs }, { range })).freshness;

test('the reported landing time is the freshness of a result, and no records are counted for it', async (t) => {
  recordLanded('busy', receivedAtMs);
  const { columns, statements } = watched('busy');
  t.deepEqual(await freshnessOf(columns), { landedUpTo: isoOf(receivedAtMs) });
  t.false(statements.some((sql) => sql.includes('received_at')));
});

test('records received more than 20 minutes ago are not fresh, and no records are counted to determine it', async (t) => {
  recordLanded('silent', receivedAtMs);
  const { columns, statements } = watched('silent');
  t.deepEqual(await freshnessOf(columns, receivedAtMs + 20 * 60_000), { landedUpTo: isoOf(receivedAtMs) });
  t.deepEqual(await freshnessOf(columns, receivedAtMs + 20 * 60_000 + 1), {
    value: null,
    reason: 'no logs of the last 20 minutes have landed',
  });
  t.false(statements.some((sql) => sql.includes('received_at')));
});

test('until a landing time is reported, freshness is read from the records', async (t) => {
  const { value, headers } = messageOf(
    [logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: String(range.from) }] }] }] })],
    { tenantId: 'untold' },
  );
  await tables.land([{ offset: 0, value, headers }]);
  t.deepEqual(await freshnessOf(tables.columns.forTenant('untold')), { landedUpTo: isoOf(receivedAtMs) });
  recordLanded('untold', receivedAtMs + 500);
  t.deepEqual(await freshnessOf(tables.columns.forTenant('untold')), { landedUpTo: isoOf(receivedAtMs + 500) });
});

test('the newest time in each tenant’s messages is reported, and messages without headers report none', (t) => {
  const messageAt = (tenantId: string, ...atMs: number[]) =>
    messageOf([], {
      tenantId,
      members: atMs.map((ms) => ({ length: 0, size: 0, records: 1, receivedAtMs: ms, source: '', traceparent: '' })),
    });
  const messages = [messageAt('a', 5, 9, 7), messageAt('b', 3), messageAt('a', 8), { headers: {} }];
  t.deepEqual(
    [...getNewestReceivedMs(messages)],
    [
      ['a', 9],
      ['b', 3],
    ],
  );
});

test('landing times are written together and not per batch, and failed writes are retried with the next write', async (t) => {
  const written: string[] = [];
  let failures = 1;
  const watermarks = new StoredWatermarks(async (sql) => {
    written.push(sql);
    if (failures-- > 0) throw new Error('the server is away');
  });
  for (let batch = 0; batch < 1_000; batch++)
    watermarks.record('logs', new Map([[`tenant-${batch % 2}`, 1_000 + batch]]));
  await eventually('it is tried', () => written.length > 0);
  t.is(written.length, 1);
  watermarks.record('logs', new Map([['tenant-2', 7]]));
  await watermarks.close();
  t.is(written.length, 2);
  for (const newestMs of ['1998', '1999', '7'])
    t.true(written[1]?.includes(`fromUnixTimestamp64Milli(toInt64(${newestMs}), 'UTC')`), newestMs);
  t.is(written[1]?.match(/fromUnixTimestamp64Milli/g)?.length, 3);
});

test('concurrent queries of a tenant share one read of landing times, and a failed read is retried', async (t) => {
  const watermarks = new StoredWatermarks(async () => {});
  let reads = 0;
  const tenant = (tenantId: string, fails = false) => ({
    tenantId,
    query: async <Row>(): Promise<Row[]> => {
      reads++;
      if (fails) throw new Error('not now');
      return [{ table_name: 'logs', newest: '17' }] as Row[];
    },
  });
  const responses = await Promise.all(Array.from({ length: 20 }, () => watermarks.getWatermark(tenant('one'), 'logs')));
  t.deepEqual(new Set(responses), new Set([17]));
  t.is(reads, 1);
  t.is(await watermarks.getWatermark(tenant('one'), 'spans'), undefined);
  t.is(reads, 1);
  await t.throwsAsync(watermarks.getWatermark(tenant('two', true), 'logs'), { message: 'not now' });
  t.is(await watermarks.getWatermark(tenant('two'), 'logs'), 17);
});
