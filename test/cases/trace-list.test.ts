/** Lists of traces with a filter by duration, over traces whose processes have different clocks. */
import test from 'ava';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { listTraces } from '../../queries/traces/list.ts';
import { messageOf, openTables, receivedAtMs, type Tables, text, tracesRequest } from './sink-tables.ts';

const at = receivedAtMs - 50_000;
const toNanoseconds = (milliseconds: number): string => String(BigInt(milliseconds) * 1_000_000n);
const count = 9_000;
/** Traces whose duration equals their apparent duration; they are the oldest */
const slowCount = 3;

const toId = (number: number, bytes: number): Buffer => {
  const id = Buffer.alloc(bytes);
  id.writeUInt32BE(number, bytes - 4);
  return id;
};

let tables: Tables;
test.before(async () => {
  tables = await openTables();
  /** Callers wait 100 ms, and the clocks of called processes are 5 s ahead. */
  const spans = (isCaller: boolean): object[] =>
    Array.from({ length: count }, (_, index) => {
      const isSlow = index < slowCount;
      const start = at + index + (isCaller ? 0 : 5_000);
      return {
        traceId: toId(index + 1, 16),
        spanId: toId(isCaller ? 1 : 2, 8),
        ...(!isCaller && { parentSpanId: toId(1, 8) }),
        name: 'GET /cart',
        kind: isCaller ? 3 : 2,
        startTimeUnixNano: toNanoseconds(start),
        endTimeUnixNano: toNanoseconds(start + (isSlow && isCaller ? 9_000 : 100)),
      };
    });
  const resourceSpans = [true, false].map((isCaller) => ({
    resource: { attributes: [text('service.name', isCaller ? 'web' : 'cart')] },
    scopeSpans: [{ spans: spans(isCaller) }],
  }));
  await tables.land([messageOf([tracesRequest({ resourceSpans })], { signal: 'traces' })], { sink: 'traces' });
});
test.after.always(() => tables.close());

test('a filter by duration that discards most traces reads the range a few times for a page, and its pages are complete', async (t) => {
  const columns = tables.columns.forTenant('acme');
  let scanCount = 0;
  const query: typeof columns.query = (sql, parameters, limits) => {
    if (sql.includes('GROUP BY trace_id HAVING')) scanCount++;
    return columns.query(sql, parameters, limits);
  };
  const reader = {
    columns: { ...columns, query },
    plan: { name: 'all', entitlements: ['traces'], retentionDays: { logs: 30, metrics: 30, traces: 30 } },
    nowMs: receivedAtMs,
  } as TenantReader;
  const range = { from: String(receivedAtMs - 60_000), to: String(receivedAtMs), scope: 'account' as const };
  const found: string[] = [];
  let cursor: string | null | undefined;
  do {
    scanCount = 0;
    const page = await listTraces({ ...range, limit: 20, minDuration: '1s', ...(cursor && { cursor }) }, reader);
    t.true(scanCount <= 10, `${scanCount} statements for a page`);
    found.push(...page.items.map(({ traceId }) => traceId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  const slow = Array.from({ length: slowCount }, (_, index) => toId(slowCount - index, 16).toString('hex'));
  t.deepEqual(found, slow);
});
