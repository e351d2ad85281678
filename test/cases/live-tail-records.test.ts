/** The live tail shows a record as a query shows it once it is stored: random requests in both forms. */
import test from 'ava';
import fc from 'fast-check';
import { toLogRecord, toSpanRecord } from '../../queries/live-tail/api-records.ts';
import { readLogs } from '../../queries/logs/pages.ts';
import { getResources } from '../../queries/resources.ts';
import { type SpanRow, spanColumns, toSpan } from '../../queries/signals/span-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { propertyRuns } from '../budget.ts';
import { messageOf as anyMessageOf, requestTypes } from './proto/load.ts';
import { messageOf, openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const answersOf = <View extends RecordView>(
  source: Source<View>,
  messages: readonly ScanMessage[],
  answerOf: (view: View) => object,
): unknown[] =>
  messages.flatMap(({ value, ...message }) =>
    Array.from(
      iterateItems(source, { ...message, key: '', value: Buffer.from(value) }, { topic: 'any', partition: 0 }),
      (view) => JSON.parse(JSON.stringify(answerOf(view))),
    ),
  );

let runs = 0;
const forRandom = (signal: Signal, compare: (tenantId: string, messages: readonly ScanMessage[]) => Promise<void>) => {
  const type = requestTypes[signal];
  const request = anyMessageOf(type, 7).map((message) => type.encode(type.create(message)).finish());
  return fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (bodies) => {
      const tenantId = `${signal}-${++runs}`;
      const messages = bodies.map((body, offset) => messageOf([body], { tenantId, signal, offset }));
      await tables.land(messages, { sink: signal });
      await compare(tenantId, messages);
    }),
    { numRuns: propertyRuns(40) },
  );
};

const inOrder = (responses: readonly unknown[]): unknown[] =>
  responses
    .map((response) => JSON.stringify(response, sorted))
    .sort()
    .map((text) => JSON.parse(text));
const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

test('a log record in the live tail equals a stored log record', async (t) => {
  await forRandom('logs', async (tenantId, messages) => {
    const read = await readLogs(tables.columns.forTenant(tenantId), 'true', {}, 10_000);
    t.deepEqual(inOrder(answersOf(logRecords, messages, toLogRecord)), inOrder(read.map(({ record }) => record)));
  });
});

test('a span in the live tail equals a stored span', async (t) => {
  await forRandom('traces', async (tenantId, messages) => {
    const columns = tables.columns.forTenant(tenantId);
    const rows = await columns.query<SpanRow>(`SELECT ${spanColumns} FROM spans WHERE tenant_id = {tenant:String}`);
    const resources = await getResources(
      columns,
      rows.map(({ resource }) => resource),
    );
    const read = rows.map((row) => toSpan(row, resources.get(row.resource)));
    t.deepEqual(inOrder(answersOf(spans, messages, toSpanRecord)), inOrder(read));
  });
});
