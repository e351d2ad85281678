/** The table of fields: the meaning of a name, which is the same in SQL and in views. */
import test from 'ava';
import {
  buildAttributeExpressions,
  buildScopeExpressions,
  type Field,
  getReferenceType,
  logFields,
  pointFields,
  readReference,
  resolveReference,
  spanFields,
} from '../../schemas/fields.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { dataPoints, logRecords, spans } from '../../schemas/records/sources.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { logsRequest, messageOf, metricsRequest, openTables, type Tables, text, tracesRequest } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const from = { topic: 'any', partition: 0 };
const decoded = <View extends RecordView, Answer>(
  source: Source<View>,
  { value, ...message }: ScanMessage,
  read: (view: View) => Answer,
): Answer[] => Array.from(iterateItems(source, { ...message, key: '', value: Buffer.from(value) }, from), read);

const id = (byte: number, length: number): Uint8Array => new Uint8Array(length).fill(byte);
const integer = (key: string, intValue: string): object => ({ key, value: { intValue } });
const attributes = [
  text('name', 'an attribute'),
  text('k"\\\'ey', 'odd'),
  integer('both', '7'),
  text('resource.x', 'of the record'),
  text('body', 'not the body'),
  { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }, { doubleValue: 0.5 }] } } },
  { key: 'none', value: {} },
];
const resource = { attributes: [text('service.name', 'cart'), text('both', 'of the resource'), text('x', 'r')] };
const scope = {
  name: 'library',
  version: '2',
  attributes: [text('y', '"'), integer('n', '5'), { key: 'e', value: {} }],
};
const bare = { name: '', attributes: [] };

const logs = logsRequest({
  resourceLogs: [
    {
      resource,
      scopeLogs: [
        {
          scope,
          logRecords: [
            {
              timeUnixNano: '1772359200123456789',
              severityNumber: 18,
              body: { stringValue: 'hello' },
              eventName: 'e',
              attributes,
              flags: 1,
              traceId: id(0xab, 16),
              spanId: id(0xcd, 8),
            },
            { severityText: 'Warning', severityNumber: 13, traceId: id(0, 16), spanId: id(0, 8) },
            { severityNumber: 99 },
          ],
        },
      ],
    },
    { scopeLogs: [{ scope: bare, logRecords: [{ attributes: [integer('both', '-1')] }, {}] }] },
  ],
});
const traces = tracesRequest({
  resourceSpans: [
    {
      resource,
      scopeSpans: [
        {
          scope,
          spans: [
            {
              name: 'GET /cart',
              kind: 3,
              status: { code: 2, message: 'bad' },
              startTimeUnixNano: '1772359200000000001',
              endTimeUnixNano: '1772359200000000901',
              traceId: id(1, 16),
              spanId: id(2, 8),
              parentSpanId: id(3, 8),
              traceState: 'a=b',
              attributes,
            },
            {},
          ],
        },
      ],
    },
  ],
});

/** Selects some expressions of each row with SQL. */
const selected = async (
  table: string,
  expressions: readonly string[],
  tenantId: string,
): Promise<readonly string[][]> => {
  const rows = await tables.read<{ found: string[] }>(
    `SELECT [${expressions.map((expression) => `toString(${expression})`).join(', ')}] AS found
     FROM ${table} WHERE tenant_id = '${tenantId}' ORDER BY offset, ordinal`,
  );
  return rows.map(({ found }) => found);
};

const records = [
  ['logs', logRecords, logFields, logs],
  ['traces', spans, spanFields, traces],
] as const satisfies readonly (readonly [Signal, unknown, unknown, unknown])[];
const tableOf = { logs: 'logs', traces: 'spans' } as const;
const keys = ['name', 'k"\\\'ey', 'both', 'resource.x', 'body', 'list', 'none', 'missing', 'y', 'n', 'e'];

for (const [signal, source, fields, body] of records) {
  const tenantId = `fields-${signal}`;
  const message = messageOf([body], { tenantId, signal });

  test(`SQL and views give the same result for every field and attribute of ${signal}`, async (t) => {
    t.deepEqual((await tables.land([message], { sink: signal })).rejected, []);
    const read = <Answer>(extract: (record: RecordView) => Answer): Answer[] =>
      decoded(source as unknown as Source<RecordView>, message, extract);
    const all = fields as readonly unknown[] as readonly Field[];
    t.deepEqual(
      read((record) => all.map((field) => String(field.read(record)))),
      await selected(
        tableOf[signal],
        all.map(({ expression }) => expression),
        tenantId,
      ),
    );
    for (const [kind, expressionsOf] of [
      ['attribute', buildAttributeExpressions],
      ['scope', buildScopeExpressions],
    ] as const)
      t.deepEqual(
        read((record) =>
          keys.flatMap((key) => {
            const found = readReference({ kind, key }, record);
            return [
              String(Number(found !== undefined)),
              String(found ?? ''),
              getReferenceType({ kind, key }, record) ?? '',
            ];
          }),
        ),
        await selected(
          tableOf[signal],
          keys.flatMap((key) => {
            const { exists, text, type } = expressionsOf(key);
            return [exists, text, type];
          }),
          tenantId,
        ),
        kind,
      );
  });

  test(`field names of ${signal} are unique`, (t) => {
    const names = fields.flatMap(({ name, aliases }) => [name, ...aliases]);
    t.is(new Set(names).size, names.length);
    for (const name of names)
      t.is(resolveReference(fields as readonly unknown[] as readonly Field[], name).kind, 'field', name);
  });
}

test("a field takes precedence over an attribute, an attribute over its resource's, and a prefix over both", (t) => {
  const message = messageOf([logs], { tenantId: 'names' });
  const values = (name: string): unknown[] =>
    decoded(logRecords, message, (log) => readReference(resolveReference(logFields, name), log));
  t.deepEqual(values('body'), ['hello', '', '', '', '']);
  t.deepEqual(values('attribute.body'), ['not the body', undefined, undefined, undefined, undefined]);
  t.deepEqual(values('both'), ['7', 'of the resource', 'of the resource', '-1', undefined]);
  t.deepEqual(values('resource.both'), [...Array(3).fill('of the resource'), undefined, undefined]);
  t.deepEqual(values('resource.x'), ['r', 'r', 'r', undefined, undefined]);
  t.deepEqual(values('attribute.resource.x'), ['of the record', undefined, undefined, undefined, undefined]);
  t.deepEqual(values('scope.n'), ['5', '5', '5', undefined, undefined]);
  t.deepEqual(values('scope.name'), ['library', 'library', 'library', '', '']);
  t.deepEqual(values('service.name'), ['cart', 'cart', 'cart', '', '']);
  t.deepEqual(values('severity'), ['ERROR2', 'Warning', '', '', '']);
  t.deepEqual(values('Body'), Array(5).fill(undefined));
  t.deepEqual(values(''), Array(5).fill(undefined));
});

test('data point fields are columns of series and points', async (t) => {
  const request = metricsRequest({
    resourceMetrics: [
      {
        resource,
        scopeMetrics: [
          {
            scope,
            metrics: [
              {
                name: 'orders',
                unit: '1',
                sum: { aggregationTemporality: 2, dataPoints: [{ timeUnixNano: '1772359200123456789', asInt: '5' }] },
              },
            ],
          },
        ],
      },
    ],
  });
  const message = messageOf([request], { tenantId: 'points', signal: 'metrics' });
  await tables.land([message], { sink: 'metrics' });
  const [row] = await tables.read<{ found: string[] }>(
    `SELECT [${pointFields.map(({ expression }) => `toString(${expression})`).join(', ')}] AS found
     FROM (SELECT * FROM samples WHERE tenant_id = ${quoteString('points')}) AS samples INNER JOIN
     (SELECT series_id, service, kind, unit, temporality, scope_name, scope_version FROM series WHERE tenant_id = ${quoteString('points')}) AS series USING series_id`,
  );
  t.deepEqual(
    decoded(dataPoints, message, (point) => pointFields.map((field) => String(field.read(point)))),
    [row?.found ?? []],
  );
});
