import test from 'ava';
import { Murmur } from '../../sinks/scan/hash.ts';
import {
  logsRequest,
  messageOf,
  openTables,
  received,
  receivedAtMs,
  scannerOf,
  type Tables,
  text,
} from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const record = (logRecord: object, resource: object[] = []): Uint8Array =>
  logsRequest({ resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ logRecords: [logRecord] }] }] });

const id = (byte: number, length: number): Uint8Array => new Uint8Array(length).fill(byte);

test('every field of a log record can be read back', async (t) => {
  const request = logsRequest({
    resourceLogs: [
      {
        schemaUrl: 'https://schema/1',
        resource: {
          attributes: [text('service.name', 'cart'), { key: 'cpus', value: { intValue: '4' } }],
          droppedAttributesCount: 6,
        },
        scopeLogs: [
          {
            scope: {
              name: 'scope',
              version: '1.2',
              attributes: [text('z', '"'), text('a', '')],
              droppedAttributesCount: 5,
            },
            schemaUrl: 'https://schema/2',
            logRecords: [
              {
                timeUnixNano: '1772359200123456789',
                observedTimeUnixNano: '1772359200123456790',
                severityNumber: 17,
                severityText: 'ERROR',
                eventName: 'device.app',
                body: { stringValue: 'grüße 🌍' },
                attributes: [text('a', '1'), { key: 'b', value: { boolValue: true } }],
                droppedAttributesCount: 3,
                flags: 257,
                traceId: id(0xab, 16),
                spanId: id(0xcd, 8),
              },
            ],
          },
        ],
      },
    ],
  });
  const { rejected, rows } = await tables.land([messageOf([request], { tenantId: 'fields', offset: 2 ** 33 + 5 })]);
  t.deepEqual(rejected, []);
  // The counted fields are tested in sink-fields.test.ts.
  const { fields: _, ...landed } = rows;
  t.deepEqual(landed, { resources: 1, logs: 1, usage: 1 });
  const [row] = await tables.read(
    `SELECT * EXCEPT (trace_id, span_id, resource_id), lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span,
     resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = 'fields') AS resolves FROM logs WHERE tenant_id = 'fields'`,
  );
  t.deepEqual(row, {
    tenant_id: 'fields',
    project_id: 'shop',
    received_at: received,
    partition: 0,
    offset: String(2 ** 33 + 5),
    ordinal: 0,
    timestamp: '2026-03-01 10:00:00.123456789',
    observed_timestamp: '2026-03-01 10:00:00.123456790',
    service: 'cart',
    scope_name: 'scope',
    scope_version: '1.2',
    scope_attributes: '{"a":"","z":"\\""}',
    scope_dropped_attributes: 5,
    scope_schema_url: 'https://schema/2',
    severity_number: 17,
    severity_text: 'ERROR',
    event_name: 'device.app',
    body: 'grüße 🌍',
    body_words: ' grüsse  🌍 ',
    body_type: 's',
    body_values: {},
    body_value_types: '',
    attributes: { a: '1', b: 'true' },
    attribute_types: 'sb',
    dropped_attributes: 3,
    flags: 257,
    trace: 'ab'.repeat(16),
    span: 'cd'.repeat(8),
    resolves: 1,
  });
  const [resource] = await tables.read(`SELECT * EXCEPT resource_id FROM resources WHERE tenant_id = 'fields'`);
  t.deepEqual(resource, {
    nested_keys: [],
    nested_types: '',
    nested_values: [],
    tenant_id: 'fields',
    service: 'cart',
    attributes: { cpus: '4', 'service.name': 'cart' },
    attribute_types: 'is',
    schema_url: 'https://schema/1',
    dropped_attributes: 6,
    first_seen: received,
    last_seen: received,
  });
});

const nested = {
  kvlistValue: {
    values: [
      text('k"ey', 'v\n'),
      {
        key: 'list',
        value: { arrayValue: { values: [{ intValue: '-5' }, { doubleValue: 0.5 }, { boolValue: false }, {}] } },
      },
      { key: 'raw', value: { bytesValue: Uint8Array.of(1, 2, 255) } },
      { key: 'nan', value: { doubleValue: Number.NaN } },
      { key: 'big', value: { intValue: '9223372036854775807' } },
    ],
  },
};

const values: readonly (readonly [string, object, string, string])[] = [
  ['an empty string', { stringValue: '' }, '', 's'],
  ['a long string', { stringValue: 'x'.repeat(40_000) }, 'x'.repeat(40_000), 's'],
  ['a string of 127 bytes', { stringValue: 'y'.repeat(127) }, 'y'.repeat(127), 's'],
  ['a string of 128 bytes', { stringValue: 'y'.repeat(128) }, 'y'.repeat(128), 's'],
  ['zero', { intValue: '0' }, '0', 'i'],
  ['a small integer', { intValue: '99999' }, '99999', 'i'],
  ['an integer of six digits', { intValue: '100000' }, '100000', 'i'],
  ['an integer above 32 bits', { intValue: '4294967296' }, '4294967296', 'i'],
  ['the largest integer', { intValue: '9223372036854775807' }, '9223372036854775807', 'i'],
  ['the smallest integer', { intValue: '-9223372036854775808' }, '-9223372036854775808', 'i'],
  ['minus one', { intValue: '-1' }, '-1', 'i'],
  ['a double', { doubleValue: 0.1 }, '0.1', 'd'],
  ['a large double', { doubleValue: 1e300 }, '1e+300', 'd'],
  ['infinity', { doubleValue: Number.NEGATIVE_INFINITY }, '-Infinity', 'd'],
  ['not a number', { doubleValue: Number.NaN }, 'NaN', 'd'],
  ['true', { boolValue: true }, 'true', 'b'],
  ['false', { boolValue: false }, 'false', 'b'],
  ['bytes', { bytesValue: Uint8Array.of(0, 1, 254, 255) }, 'AAH+/w==', 'y'],
  ['no value', {}, '', 'n'],
  ['an empty array', { arrayValue: {} }, '[]', 'j'],
  ['an empty map', { kvlistValue: {} }, '{}', 'j'],
  [
    'nested values',
    nested,
    '{"k\\"ey":"v\\n","list":[-5,0.5,false,null],"raw":"AQL/","nan":"NaN","big":9223372036854775807}',
    'j',
  ],
];

test('values of every type become text with a type letter, as bodies and as attributes', async (t) => {
  const messages = values.map(([, value], offset) =>
    messageOf([record({ body: value, attributes: [{ key: 'k', value }] })], { tenantId: 'values', offset }),
  );
  t.deepEqual((await tables.land(messages)).rejected, []);
  const rows = await tables.read<Record<string, string>>(
    `SELECT body, body_type, attributes['k'] AS attribute, substring(attribute_types, 1, 1) AS attribute_type FROM logs WHERE tenant_id = 'values' ORDER BY offset`,
  );
  for (const [index, [name, , expected, typeCode]] of values.entries()) {
    t.deepEqual(
      rows[index],
      { body: expected, body_type: typeCode, attribute: expected, attribute_type: typeCode },
      name,
    );
  }
});

const times: readonly (readonly [string, object, string, string])[] = [
  [
    'its own time',
    { timeUnixNano: '1', observedTimeUnixNano: '2' },
    '1970-01-01 00:00:00.000000001',
    '1970-01-01 00:00:00.000000002',
  ],
  [
    'the observed time without it',
    { observedTimeUnixNano: '2000000000' },
    '1970-01-01 00:00:02.000000000',
    '1970-01-01 00:00:02.000000000',
  ],
  ['the time of reception without both', {}, `${received}000000`, `${received}000000`],
  [
    'the last instant for times beyond',
    { timeUnixNano: '18446744073709551615' },
    '2106-02-07 06:28:15.999999999',
    `${received}000000`,
  ],
];

for (const [index, [name, fields, timestamp, observed]] of times.entries()) {
  test(`a record has ${name}`, async (t) => {
    const tenantId = `times-${index}`;
    await tables.land([messageOf([record(fields)], { tenantId })]);
    const rows = await tables.read(`SELECT timestamp, observed_timestamp FROM logs WHERE tenant_id = '${tenantId}'`);
    t.deepEqual(rows, [{ timestamp, observed_timestamp: observed }]);
  });
}

test('a record of the far future is found in a range that contains its time', async (t) => {
  await tables.land([messageOf([record({ timeUnixNano: '18446744073709551615' })], { tenantId: 'far' })]);
  const found = await tables.read(
    `SELECT body FROM logs WHERE tenant_id = 'far' AND timestamp >= fromUnixTimestamp64Nano(1900000000000000000, 'UTC')`,
  );
  t.is(found.length, 1);
});

test('ordinals count the records of a message across its members, resources and scopes', async (t) => {
  const scope = (bodies: string[]): object => ({
    logRecords: bodies.map((stringValue) => ({ body: { stringValue } })),
  });
  const first = logsRequest({
    resourceLogs: [{ scopeLogs: [scope(['0', '1']), scope([]), scope(['2'])] }, { scopeLogs: [scope(['3'])] }],
  });
  const second = logsRequest({ resourceLogs: [{ scopeLogs: [scope(['4'])] }] });
  await tables.land([
    messageOf([first, second], { tenantId: 'ordinals' }),
    messageOf([second], { tenantId: 'ordinals', offset: 1 }),
  ]);
  const rows = await tables.read<{ found: string[] }>(
    `SELECT groupArray(concat(toString(offset), ' ', toString(ordinal), ' ', body)) AS found FROM (SELECT * FROM logs WHERE tenant_id = 'ordinals' ORDER BY offset, ordinal)`,
  );
  t.deepEqual(rows[0]?.found, ['0 0 0', '0 1 1', '0 2 2', '0 3 3', '0 4 4', '1 0 4']);
});

test('a resource has one id and one row regardless of attribute order', async (t) => {
  const one = record({}, [text('service.name', 'a'), text('host.name', 'h'), { key: 'n', value: { intValue: '1' } }]);
  const two = record({}, [{ key: 'n', value: { intValue: '1' } }, text('host.name', 'h'), text('service.name', 'a')]);
  const other = record({}, [text('n', '1'), text('host.name', 'h'), text('service.name', 'a')]);
  await tables.land([one, two, other, one].map((body, offset) => messageOf([body], { tenantId: 'order', offset })));
  const [logs] = await tables.read<{ ids: string[] }>(
    `SELECT groupArray(resource_id) AS ids FROM (SELECT * FROM logs WHERE tenant_id = 'order' ORDER BY offset)`,
  );
  const ids = logs?.ids ?? [];
  t.is(ids[0], ids[1]);
  t.is(ids[0], ids[3]);
  t.not(ids[0], ids[2], 'the type of a value is part of it');
  const [resources] = await tables.read<{ rows: string }>(
    `SELECT count() AS rows FROM (SELECT resource_id FROM resources FINAL WHERE tenant_id = 'order')`,
  );
  t.is(resources?.rows, '2');
});

test('resource ids never change', async (t) => {
  await tables.land([messageOf([record({}, [text('b', '2'), text('service.name', 'cart')])], { tenantId: 'vector' })]);
  const rows = await tables.read<{ id: string }>(
    `SELECT toString(resource_id) AS id FROM logs WHERE tenant_id = 'vector'`,
  );
  const canonical = Buffer.concat(
    ['b', 's', '2', 'service.name', 's', 'cart'].map((part) => Buffer.from([part.length, ...Buffer.from(part)])),
  );
  const { a, b } = new Murmur().seed(0).update(canonical, 0, canonical.length);
  t.is(rows[0]?.id, ((BigInt(b >>> 0) << 32n) | BigInt(a >>> 0)).toString());
  t.is(rows[0]?.id, '3413053606839074068');
});

const vectors: readonly (readonly [string, string])[] = [
  ['', '00000000000000000000000000000000'],
  ['hello', '2b2444a0db91def79adb31b69adb31b6'],
  ['The quick brown fox jumps over the lazy dog', '2f1583c3ecee2c675d7bf66ce5e91d2c'],
];

test('hashes equal MurmurHash3 x86 128-bit', (t) => {
  for (const [input, expected] of vectors) {
    const bytes = Buffer.from(input);
    const { a, b, c, d } = new Murmur().seed(0).update(bytes, 0, bytes.length);
    t.is([a, b, c, d].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join(''), expected);
  }
});

test('a resource is written once an hour, and again if its insert failed', async (t) => {
  const scanner = await scannerOf('logs');
  const request = record({}, [text('service.name', 'hourly')]);
  const at = (milliseconds: number) =>
    messageOf([request], {
      tenantId: 'hourly',
      members: [
        {
          length: request.length,
          size: request.length,
          records: 1,
          receivedAtMs: milliseconds,
          source: '',
          traceparent: '',
        },
      ],
    });
  const counts: number[] = [];
  for (const [serial, message] of [at(receivedAtMs), at(receivedAtMs + 1), at(receivedAtMs + 3_600_000)].entries()) {
    const { rows } = await tables.land([message, message], { scanner, serial: serial + 1 });
    counts.push(rows['resources'] ?? 0);
  }
  t.deepEqual(counts, [1, 0, 1]);
});

test('a malformed message is omitted completely and the others land', async (t) => {
  const good = record({ body: { stringValue: 'good' } });
  const bad = Buffer.concat([
    record({ body: { stringValue: 'lost' } }, [text('service.name', 'lost')]),
    Buffer.of(0x0a, 0x7f, 1),
  ]);
  const messages = [good, bad, good].map((body, offset) => messageOf([body], { tenantId: 'poison', offset }));
  const { rejected } = await tables.land(messages);
  t.deepEqual(
    rejected.map(({ index, reason }) => ({ index, reason })),
    [{ index: 1, reason: 'malformed' }],
  );
  const rows = await tables.read(
    `SELECT toString(offset) AS offset, body FROM logs WHERE tenant_id = 'poison' ORDER BY offset`,
  );
  t.deepEqual(rows, [
    { offset: '0', body: 'good' },
    { offset: '2', body: 'good' },
  ]);
  t.deepEqual(await tables.read(`SELECT service FROM resources WHERE tenant_id = 'poison' AND service = 'lost'`), []);
});

test('thousands of different keys and values have separate dictionaries', async (t) => {
  const attributes = (row: number): object[] =>
    Array.from({ length: 20 }, (_, index) => text(`key-${(row * 20 + index) % 3_000}`, `value-${row}-${index}`));
  const request = logsRequest({
    resourceLogs: [
      {
        scopeLogs: [
          {
            logRecords: Array.from({ length: 600 }, (_, row) => ({
              attributes: attributes(row),
              severityText: `S${row}`,
            })),
          },
        ],
      },
    ],
  });
  await tables.land([messageOf([request], { tenantId: 'many' })]);
  const [row] = await tables.read(
    `SELECT count() AS rows, uniqExact(severity_text) AS texts, sum(length(attributes)) AS pairs,
     countIf(attributes[concat('key-', toString((ordinal * 20 + 7) % 3000))] = concat('value-', toString(ordinal), '-7')) AS right,
     countIf(severity_text = concat('S', toString(ordinal))) AS named FROM logs WHERE tenant_id = 'many'`,
  );
  t.deepEqual(row, { rows: '600', texts: '600', pairs: '12000', right: '600', named: '600' });
});

test('more distinct values than two bytes can index can be read back', async (t) => {
  const rows = 70_000;
  const logRecords = Array.from({ length: rows }, (_, row) => ({ severityText: `text ${row}` }));
  await tables.land([
    messageOf([logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })], { tenantId: 'wide' }),
  ]);
  const found = await tables.read(
    `SELECT count() AS rows, countIf(severity_text = concat('text ', toString(ordinal))) AS named FROM logs WHERE tenant_id = 'wide'`,
  );
  t.deepEqual(found, [{ rows: String(rows), named: String(rows) }]);
});

test('values that nest too deeply are rejected, and 32 levels are accepted', async (t) => {
  const nest = (depth: number): object =>
    depth === 0 ? { stringValue: 'x' } : { arrayValue: { values: [nest(depth - 1)] } };
  const messages = [32, 33].map((depth, offset) =>
    messageOf([record({ body: nest(depth) })], { tenantId: 'deep', offset }),
  );
  const { rejected } = await tables.land(messages);
  t.deepEqual(
    rejected.map(({ index }) => index),
    [1],
  );
  t.deepEqual(await tables.read(`SELECT body FROM logs WHERE tenant_id = 'deep'`), [
    { body: `${'['.repeat(32)}"x"${']'.repeat(32)}` },
  ]);
});
