/** The size of attributes, and which of them no document uses. */
import test from 'ava';
import { estimateAttributeCosts } from '../../queries/fields/costs.ts';
import { findUnreferencedAttributes } from '../../queries/fields/uses.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { otlpMessage } from './run-task.ts';
import { openTables, receivedAtMs, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

test('attributes are listed with their share of the record size, the largest first', async (t) => {
  const logRecords = Array.from({ length: 4 }, (_, index) => ({
    timeUnixNano: `${receivedAtMs - 1000}000000`,
    body: { stringValue: 'x'.repeat(10) },
    attributes: [attribute('cart', 'y'.repeat(6)), ...(index < 2 ? [attribute('dump', 'z'.repeat(56))] : [])],
  }));
  const sent = { resourceLogs: [{ resource: {}, scopeLogs: [{ logRecords }] }] };
  const message = otlpMessage('logs', sent, { atMs: receivedAtMs, tenantId: 'acme' });
  await tables.land([{ ...message, offset: 1 }]);
  const ofLastHour = (tenant: string) =>
    estimateAttributeCosts({ columns: tables.columns.forTenant(tenant) }, 'logs', {
      from: BigInt(receivedAtMs - 3_600_000) * 1_000_000n,
      to: BigInt(receivedAtMs) * 1_000_000n,
    });
  t.deepEqual(await ofLastHour('acme'), {
    sampleSize: 4,
    costs: [
      { key: 'dump', share: 0.6, recordShare: 0.5 },
      { key: 'cart', share: 0.2, recordShare: 1 },
    ],
  });
  t.deepEqual(await ofLastHour('other'), { sampleSize: 0, costs: [] });
});

const holding = (held: Readonly<Record<string, readonly object[]>>): Pick<TenantDocuments, 'collection'> => ({
  collection: ((definition: CollectionDefinition<object>) => ({
    list: async () => ({ items: held[definition.name] ?? [], nextCursor: null }),
  })) as never,
});

const holders: readonly (readonly [what: string, held: Readonly<Record<string, readonly object[]>>])[] = [
  ['a rule', { 'alert-rules': [{ condition: { query: { search: 'cart.dump:*' } } }] }],
  ['a dashboard in PromQL', { dashboards: [{ panels: [{ expression: 'sum by (cart_dump) (x)' }] }] }],
  ['a detector', { 'anomaly-detectors': [{ query: { groupBy: ['cart.dump'] } }] }],
  ['a detection rule', { 'detection-rules': [{ text: 'cart.dump|contains: x' }] }],
];
for (const [what, held] of holders)
  test(`an attribute used by ${what} is not reported as unread`, async (t) => {
    const { keys, scannedText } = await findUnreferencedAttributes(holding(held), ['cart.dump', 'cart.other']);
    t.deepEqual(keys, ['cart.other']);
    t.regex(scannedText, /\b1 (?:alert rules|dashboards|detectors|detection rules)\b/);
  });
