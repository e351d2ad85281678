/** A request of a long conversation has the nearest requests, whatever their number. */
import test from 'ava';
import { readLlmRequest } from '../../subjects/llm/request.ts';
import { openTables } from './sink-tables.ts';

const startMs = Date.UTC(2026, 2, 1, 12);
const tenantId = 'talkative';
const calls = 10_000;
const stepMs = 500;

test('a request of a conversation with 10,000 calls has the 100 nearest ones that count', async (t) => {
  const tables = await openTables();
  t.teardown(() => tables.close());
  const insert = (columns: string, values: string): Promise<void> =>
    tables.columns.execute(
      `INSERT INTO llm_calls (tenant_id, timestamp, trace_id, span_id, ${columns})
      SELECT '${tenantId}', fromUnixTimestamp64Milli(toInt64(${startMs} + number * ${stepMs}), 'UTC'), leftPad(lower(hex(number)), 32, '0'), leftPad(lower(hex(number)), 16, '0'), ${values} FROM numbers(${calls})`,
    );
  await insert('project_id, kind, conversation_id', "'shop', 'call', if(number % 50 = 7, 'another', 'long')");
  // Every tenth call is nested in another one, which its verdict says.
  await insert('nested', 'number % 10 = 0');
  const reader = {
    columns: tables.columns.forTenant(tenantId),
    nowMs: startMs + 86_400_000,
    plan: { name: 'all', entitlements: ['traces', 'llm'], retentionDays: { logs: 30, metrics: 30, traces: 30 } },
  };
  const id = (5_001).toString(16);
  const request = await readLlmRequest(
    reader,
    {
      timeNs: BigInt(startMs + 5_001 * stepMs) * 1_000_000n,
      traceId: id.padStart(32, '0'),
      spanId: id.padStart(16, '0'),
    },
    { scope: 'account' },
  );
  t.is(request?.conversation.length, 100);
  const numbers = request?.conversation.map(({ time }) => (Date.parse(time) - startMs) / stepMs) ?? [];
  const expected = Array.from({ length: calls }, (_, number) => number)
    .filter((number) => number !== 5_001 && number % 50 !== 7 && number % 10 !== 0)
    .sort((left, right) => Math.abs(left - 5_001) - Math.abs(right - 5_001))
    .slice(0, 98);
  for (const number of expected) t.true(numbers.includes(number), String(number));
});
