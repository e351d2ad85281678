/** Sinks count the fields and attributes of records: compared with SQL over the rows. */
import test from 'ava';
import { randomOf } from './random.ts';
import {
  logsRequest,
  messageOf,
  openTables,
  receivedAtMs,
  scannerOf,
  type Tables,
  text,
  tracesRequest,
} from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

interface FieldRow {
  readonly project: string;
  readonly hour: string;
  readonly kind: string;
  readonly key: string;
  readonly type: string;
  readonly records: string;
  readonly first: string;
  readonly last: string;
}

const order = 'ORDER BY project, hour, kind, key, type';
const counted = (tenantId: string, topic: string): Promise<FieldRow[]> =>
  tables.read(`SELECT project_id AS project, toString(hour) AS hour, kind, key, type, toString(sum(records)) AS records,
    toString(min(first_seen)) AS first, toString(max(last_seen)) AS last
    FROM fields WHERE tenant_id = '${tenantId}' AND topic = '${topic}' GROUP BY ALL ${order}`);

const times = `toString(count()) AS records, toString(min(toDateTime64(timestamp, 3, 'UTC'))) AS first, toString(max(toDateTime64(timestamp, 3, 'UTC'))) AS last`;
const optional: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  logs: {
    body: "body != ''",
    severity: "severity_text != '' OR severity_number BETWEEN 1 AND 24",
    severityText: "severity_text != ''",
    eventName: "event_name != ''",
    traceId: "trace_id != toFixedString('', 16)",
    spanId: "span_id != toFixedString('', 8)",
    timestamp: 'true',
    observedTimestamp: 'true',
    severityNumber: 'true',
    flags: 'true',
  },
  spans: {
    name: "name != ''",
    statusMessage: "status_message != ''",
    traceId: "trace_id != toFixedString('', 16)",
    spanId: "span_id != toFixedString('', 8)",
    parentSpanId: "parent_span_id != toFixedString('', 8)",
    traceState: "trace_state != ''",
    timestamp: 'true',
    duration: 'true',
    kind: 'true',
    status: 'true',
    flags: 'true',
  },
};
const shared = {
  service: "service != ''",
  'scope.name': "scope_name != ''",
  'scope.version': "scope_version != ''",
  projectId: 'true',
};

/** The same counts, computed from the stored rows. */
const expected = (tenantId: string, table: 'logs' | 'spans'): Promise<FieldRow[]> => {
  const from = `FROM ${table} WHERE tenant_id = '${tenantId}'`;
  const hour = `project_id AS project, toString(toStartOfHour(toDateTime(timestamp, 'UTC'))) AS hour`;
  const group = 'GROUP BY project, hour, kind, key, type';
  const attribute = (kind: string, keys: string, types: string, more = ''): string =>
    `SELECT ${hour}, '${kind}' AS kind, each.1 AS key, each.2 AS type, ${times} FROM ${table} ${more}
    ARRAY JOIN arrayMap(key -> (key, lower(substring(${types}, indexOf(${keys}, key), 1))), arrayDistinct(${keys})) AS each
    WHERE ${table}.tenant_id = '${tenantId}' ${group}`;
  const parts = [
    `SELECT ${hour}, 'record' AS kind, '' AS key, '' AS type, ${times} ${from} ${group}`,
    ...Object.entries({ ...optional[table], ...shared }).map(
      ([name, condition]) =>
        `SELECT ${hour}, 'field' AS kind, '${name}' AS key, '' AS type, ${times} ${from} AND (${condition}) ${group}`,
    ),
    attribute('attribute', `mapKeys(${table}.attributes)`, `${table}.attribute_types`),
    ...(table === 'logs' ? [attribute('body', 'mapKeys(logs.body_values)', 'logs.body_value_types')] : []),
    attribute(
      'resource',
      'arrayConcat(mapKeys(r.attributes), r.nested_keys)',
      'concat(r.attribute_types, r.nested_types)',
      `INNER JOIN (SELECT tenant_id, resource_id, attributes, attribute_types, nested_keys, nested_types FROM resources FINAL) AS r ON r.resource_id = ${table}.resource_id AND r.tenant_id = ${table}.tenant_id`,
    ),
    `SELECT ${hour}, 'scope' AS kind, each AS key, transform(toString(JSONType(scope_attributes, each)), ['String', 'Int64', 'UInt64', 'Double', 'Bool', 'Array', 'Object', 'Null'], ['s', 'i', 'i', 'd', 'b', 'j', 'j', 'n'], '') AS type, ${times}
    FROM ${table} ARRAY JOIN JSONExtractKeys(scope_attributes) AS each WHERE tenant_id = '${tenantId}' ${group}`,
  ];
  return tables.read(`SELECT * FROM (${parts.join(' UNION ALL ')}) ${order}`);
};

const hourNs = 3_600_000_000_000n;
const base = BigInt(receivedAtMs) * 1_000_000n;
type Next = () => number;
const pick = <Item>(next: Next, items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;
const maybe = <Value>(next: Next, value: Value): Value | undefined => (next() < 0.5 ? value : undefined);

const value = (next: Next): object =>
  pick(next, [
    { stringValue: 'a' },
    { intValue: '7' },
    { doubleValue: 1.5 },
    { boolValue: true },
    { arrayValue: { values: [{ intValue: '1' }] } },
    { kvlistValue: { values: [text('a', 'b')] } },
    { bytesValue: Buffer.from('ab') },
    {},
  ]);
const names = ['http.route', 'user', 'k', 'käse', '', 'a b', "quo'te", 'k'.repeat(200)];
const attributesOf = (next: Next): object[] =>
  Array.from({ length: Math.floor(next() * 5) }, () => ({ key: pick(next, names), value: value(next) }));
const bytesOf = (next: Next, length: number): Uint8Array =>
  pick(next, [new Uint8Array(0), new Uint8Array(length), new Uint8Array(length).fill(1 + Math.floor(next() * 200))]);
const timeOf = (next: Next): string =>
  String(base + BigInt(Math.floor(next() * 4) - 2) * hourNs + BigInt(Math.floor(next() * 1e9)));
const scopeOf = (next: Next): object | undefined =>
  maybe(next, {
    name: pick(next, ['', 'lib']),
    version: pick(next, ['', '1']),
    attributes: attributesOf(next).slice(0, 1),
  });

const logsOf = (next: Next): Uint8Array =>
  logsRequest({
    resourceLogs: Array.from({ length: 1 + Math.floor(next() * 3) }, () => ({
      resource: { attributes: [...(maybe(next, [text('service.name', 'cart')]) ?? []), ...attributesOf(next)] },
      scopeLogs: Array.from({ length: Math.floor(next() * 3) }, () => ({
        scope: scopeOf(next),
        logRecords: Array.from({ length: Math.floor(next() * 6) }, () => ({
          timeUnixNano: maybe(next, timeOf(next)),
          severityNumber: pick(next, [0, 0, 9, 17, 99]),
          severityText: pick(next, ['', '', 'warn']),
          eventName: pick(next, ['', 'event']),
          body: pick(next, [
            undefined,
            { stringValue: '' },
            { stringValue: 'x' },
            { stringValue: '{"user":{"id":"u"},"tags":[1,2.5]}' },
            { kvlistValue: { values: [text('a', 'b')] } },
            { intValue: '1' },
            {},
          ]),
          attributes: attributesOf(next),
          traceId: bytesOf(next, 16),
          spanId: bytesOf(next, 8),
        })),
      })),
    })),
  });

const spansOf = (next: Next): Uint8Array =>
  tracesRequest({
    resourceSpans: Array.from({ length: 1 + Math.floor(next() * 3) }, () => ({
      resource: { attributes: attributesOf(next) },
      scopeSpans: Array.from({ length: Math.floor(next() * 3) }, () => ({
        scope: scopeOf(next),
        spans: Array.from({ length: Math.floor(next() * 6) }, () => ({
          startTimeUnixNano: maybe(next, timeOf(next)),
          name: pick(next, ['', 'GET /']),
          traceState: pick(next, ['', 'a=1']),
          status: pick(next, [undefined, { message: '' }, { message: 'bad' }]),
          attributes: attributesOf(next),
          events: [{ name: 'event', attributes: [text('of an event', 'x')] }],
          traceId: bytesOf(next, 16),
          spanId: bytesOf(next, 8),
          parentSpanId: bytesOf(next, 8),
        })),
      })),
    })),
  });

for (const [sink, table, topic, requestOf] of [
  ['logs', 'logs', 'otlp.logs', logsOf],
  ['traces', 'spans', 'otlp.traces', spansOf],
] as const)
  test(`${sink}: counts of random batches equal those of the rows`, async (t) => {
    const next = randomOf(sink.length);
    const scanner = await scannerOf(sink);
    for (let batch = 0; batch < 6; batch++) {
      const messages = Array.from({ length: 12 }, (_, index) => {
        const offset = batch * 12 + index;
        const headers = { tenantId: pick(next, ['one', 'two']), projectId: pick(next, ['p1', 'p2']), offset };
        const body = requestOf(next);
        // One of them is truncated in its last record, after valid records.
        if (index !== 5) return messageOf([body], headers);
        return messageOf([Buffer.concat([body, Uint8Array.of(0x0a, 99, 1)])], headers);
      });
      const { rejected } = await tables.land(messages, { sink, scanner, serial: batch + 1 });
      t.deepEqual(
        rejected.map(({ index }) => index),
        [5],
      );
    }
    for (const tenantId of ['one', 'two']) {
      const [landed, rows] = [await counted(tenantId, topic), await expected(tenantId, table)].map((all) =>
        all.map((row) => JSON.stringify(row)),
      );
      t.true((rows?.length ?? 0) > 100);
      t.deepEqual(rows?.filter((row) => !landed?.includes(row)).slice(0, 5), []);
      t.deepEqual(landed?.filter((row) => !rows?.includes(row)).slice(0, 5), []);
    }
  });

test('sender-defined names above 2,000 an hour are counted together, and records and fields are still counted', async (t) => {
  const scanner = await scannerOf('logs');
  const withKeys = (keys: readonly string[]): Uint8Array =>
    logsRequest({
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: keys.map((key) => ({
                body: { stringValue: 'x' },
                attributes: [text(key, ''), text('usual', '')],
              })),
            },
          ],
        },
      ],
    });
  const created = Array.from({ length: 20_000 }, (_, index) => `made-up-${index}`);
  await tables.land([messageOf([withKeys(created)], { tenantId: 'many' })], { scanner });
  await tables.land([messageOf([withKeys(['k'.repeat(513)])], { tenantId: 'many', offset: 1 })], {
    scanner,
    serial: 2,
  });
  const rows = await counted('many', 'otlp.logs');
  const records = (chosen: (row: FieldRow) => boolean): number =>
    rows.filter(chosen).reduce((sum, row) => sum + Number(row.records), 0);
  t.is(rows.filter(({ kind }) => kind === 'attribute').length, 2_000);
  t.is(
    records(({ kind }) => kind === 'record'),
    20_001,
  );
  t.is(
    records(({ key }) => key === 'body'),
    20_001,
  );
  const normalRecords = records(({ key }) => key === 'usual');
  t.true(normalRecords > 16_000);
  const byName = records(({ kind, key }) => kind === 'attribute' && key !== 'usual');
  t.is(byName, 1_999);
  // Above about 16,000 combinations of keys, all keys of a record are counted as one.
  t.true(records(({ kind }) => kind === 'other') >= 20_001 - byName);
});
