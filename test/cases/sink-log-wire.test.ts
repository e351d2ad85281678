/** Unusual encodings of records, compared with protobufjs where it can decode them. */
import test from 'ava';
import fc from 'fast-check';
import { field, plain, requestTypes, varint } from './proto/load.ts';
import { messageOf, openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

type Value = readonly [letter: string, content: string | number | bigint | boolean | Uint8Array | undefined];

interface Pair {
  readonly key: string;
  readonly value: Value;
  /** The encoding style: all styles have the same meaning. */
  readonly style: 'usual' | 'value first' | 'unknown field' | 'long lengths' | 'no key';
}

const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};

const anyValue = ([typeCode, content]: Value): Buffer => {
  if (typeof content === 'string') return field(1, content);
  if (typeof content === 'boolean') return Buffer.of(0x10, content ? 1 : 0);
  if (typeof content === 'bigint') return Buffer.concat([Buffer.of(0x18), varint(BigInt.asUintN(64, content))]);
  if (typeof content === 'number') return Buffer.concat([Buffer.of(0x21), double(content)]);
  return typeCode === 'n' ? Buffer.alloc(0) : field(7, content as Uint8Array);
};

/** A field with a length of five bytes instead of one. */
const longField = (number: number, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.of(number * 8 + 2, 0x80 | (content.length & 127), 0x80 | (content.length >> 7), 0x80, 0x80, 0),
    content,
  ]);

const pair = ({ key, value, style }: Pair): Buffer => {
  const name = field(1, key);
  const any = anyValue(value);
  if (style === 'value first') return Buffer.concat([field(2, any), name]);
  if (style === 'unknown field') return Buffer.concat([name, Buffer.of(0x50, 7), field(2, any), field(9, 'x')]);
  if (style === 'long lengths') return Buffer.concat([longField(1, Buffer.from(key)), longField(2, any)]);
  return style === 'no key' ? field(2, any) : Buffer.concat([name, field(2, any)]);
};

const text = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'binary', maxLength: 20 }),
  ...[1, 3, 4, 7, 8, 9, 15, 16, 17, 127, 128, 511, 512, 513, 600].map((size) =>
    fc.constantFrom('a', 'b').map((character) => character.repeat(size)),
  ),
);
const decimal = fc
  .tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.nat(9))
  .map(([digits, places]) => digits / 10 ** places);
const edges = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e-6,
  1e-7,
  999_999_999,
  1e9,
  2_147_483_648,
  4_294_967_296.5,
  999_999_999.999_999,
  1e21,
  5e-324,
  Number.NaN,
];
const integers = [0n, 9n, 10n, 127n, 128n, 99_999n, 999_999_999n, 10n ** 9n, 2n ** 32n, 2n ** 63n - 1n, -1n];
const value: fc.Arbitrary<Value> = fc.oneof(
  text.map((content): Value => ['s', content]),
  fc
    .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(...integers))
    .map((content): Value => ['i', content]),
  fc.oneof(fc.double(), decimal, fc.constantFrom(...edges)).map((content): Value => ['d', content]),
  fc.boolean().map((content): Value => ['b', content]),
  fc.uint8Array({ maxLength: 30 }).map((content): Value => ['y', content]),
  fc.constant<Value>(['n', undefined]),
);
/** Keys with common prefixes and suffixes, so that a prediction from the previous record is often almost correct. */
const keys = [
  '',
  'a',
  'b',
  'abc',
  'abd',
  'http.request.method',
  'http.request.methoD',
  'Http.request.method',
  'k'.repeat(130),
];
const pairs: fc.Arbitrary<Pair> = fc.record({
  key: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...keys) }, { weight: 1, arbitrary: text }),
  value,
  style: fc.constantFrom('usual', 'usual', 'usual', 'value first', 'unknown field', 'long lengths', 'no key'),
});
const attributeLists = fc.array(pairs, { maxLength: 6 });
/** Runs of records with the same keys, as senders write them, between others. */
const records = fc.array(fc.tuple(attributeLists, value, fc.integer({ min: 1, max: 3 })), {
  minLength: 1,
  maxLength: 60,
});

const textOf = (any: Record<string, unknown> | undefined): string => String(Object.values(any ?? {})[0] ?? '');
const typeCodes: Readonly<Record<string, string>> = {
  stringValue: 's',
  intValue: 'i',
  doubleValue: 'd',
  boolValue: 'b',
  bytesValue: 'y',
};
const typeCodeOf = (any: object | undefined): string => typeCodes[Object.keys(any ?? {})[0] ?? ''] ?? 'n';

interface Decoded {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly {
      readonly logRecords?: readonly {
        readonly body?: Record<string, unknown>;
        readonly attributes?: readonly { readonly key?: string; readonly value?: Record<string, unknown> }[];
      }[];
    }[];
  }[];
}

test('records are read back as by protobufjs, in any encoding', async (t) => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(records, async (list) => {
      const tenantId = `wire-${run++}`;
      const written = list.flatMap(([attributes, body, times]) => {
        const record = field(2, ...attributes.map((one) => field(6, pair(one))), field(5, anyValue(body)));
        return Array.from({ length: times }, () => record);
      });
      const request = field(1, field(2, ...written));
      const { rejected } = await tables.land([messageOf([request], { tenantId })]);
      t.deepEqual(rejected, []);
      const rows = await tables.read(
        `SELECT body, body_type, mapKeys(attributes) AS keys, mapValues(attributes) AS texts, attribute_types FROM logs WHERE tenant_id = '${tenantId}' ORDER BY ordinal`,
      );
      const decoded = plain(requestTypes.logs, request) as unknown as Decoded;
      const expected = decoded.resourceLogs[0]?.scopeLogs[0]?.logRecords?.map(({ body, attributes = [] }) => ({
        body: textOf(body),
        body_type: typeCodeOf(body),
        keys: attributes.map(({ key = '' }) => key),
        texts: attributes.map(({ value }) => textOf(value)),
        attribute_types: attributes.map(({ value }) => typeCodeOf(value)).join(''),
      }));
      t.deepEqual(rows, expected);
    }),
    { numRuns: 25, seed: 20_260_301 },
  );
});

const integer = (...bytes: number[]): Buffer => Buffer.of(0x18, ...bytes);
const alternatives: readonly (readonly [string, Buffer, string, string])[] = [
  ['an integer and a string', Buffer.concat([integer(5), field(1, 'x')]), 'x', 's'],
  ['a string and an integer', Buffer.concat([field(1, 'x'), integer(5)]), '5', 'i'],
  ['a double and an integer', Buffer.concat([Buffer.of(0x21), double(0.5), integer(5)]), '5', 'i'],
  ['two integers', Buffer.concat([integer(5), integer(6)]), '6', 'i'],
  ['an integer of more bytes than it needs', integer(0x85, 0x80, 0x80, 0x00), '5', 'i'],
  ['an integer of ten bytes', integer(0x85, ...Array.from({ length: 8 }, () => 0x80), 0x00), '5', 'i'],
  ['an integer and an unknown field', Buffer.concat([integer(5), Buffer.of(0x48, 1)]), '5', 'i'],
];

test('the last of several alternatives in one value counts', async (t) => {
  const written = alternatives.map(([, any]) => field(2, field(6, field(1, 'k'), field(2, any)), field(5, any)));
  await tables.land([messageOf([field(1, field(2, ...written))], { tenantId: 'alternatives' })]);
  const rows = await tables.read(
    `SELECT body, body_type, attributes['k'] AS attribute, attribute_types FROM logs WHERE tenant_id = 'alternatives' ORDER BY ordinal`,
  );
  for (const [index, [name, , expected, typeCode]] of alternatives.entries()) {
    t.deepEqual(
      rows[index],
      { body: expected, body_type: typeCode, attribute: expected, attribute_types: typeCode },
      name,
    );
  }
});

for (const [sink, table] of [
  ['logs', 'logs'],
  ['traces', 'spans'],
] as const) {
  test(`${sink}: a resource, scope or schema URL after the records applies to them`, async (t) => {
    const tenantId = `late-${sink}`;
    const record = field(2);
    const scope = (name: string): Buffer =>
      field(2, record, record, field(1, field(1, name), field(2, '1')), field(3, `https://${name}`), record);
    const resource = field(1, field(1, field(1, 'service.name'), field(2, field(1, 'cart'))));
    const request = field(1, scope('first'), field(2), scope('second'), resource);
    t.deepEqual((await tables.land([messageOf([request], { tenantId })], { sink })).rejected, []);
    const rows = await tables.read(
      `SELECT scope_name, scope_schema_url, service, groupArray(ordinal) AS ordinals FROM (SELECT * FROM ${table} WHERE tenant_id = '${tenantId}' ORDER BY ordinal) GROUP BY ALL ORDER BY scope_name`,
    );
    t.deepEqual(rows, [
      { scope_name: 'first', scope_schema_url: 'https://first', service: 'cart', ordinals: [0, 1, 2] },
      { scope_name: 'second', scope_schema_url: 'https://second', service: 'cart', ordinals: [3, 4, 5] },
    ]);
  });
}

test('a truncated or changed record lands completely or not at all, and damages no other record', async (t) => {
  const [attributes] = fc.sample(fc.array(pairs, { minLength: 8, maxLength: 8 }), { seed: 7, numRuns: 1 });
  const good = field(
    1,
    field(2, field(2, ...(attributes ?? []).map((one) => field(6, pair(one))), field(5, field(1, 'body')))),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length)), { minLength: 50, maxLength: 50 }),
      async (changes) => {
        const tenantId = `harm-${changes.flat().join('-').slice(0, 60)}`;
        const bad = changes.map(([at, byte, cut]) => {
          const bytes = Buffer.from(good);
          bytes[at] = byte;
          return bytes.subarray(0, cut);
        });
        const messages = [...bad, good].map((body, offset) => messageOf([body], { tenantId, offset }));
        const { rejected } = await tables.land(messages);
        t.true(rejected.every(({ index }) => index < bad.length));
        const [last] = await tables.read<{ rows: string }>(
          `SELECT count() AS rows FROM logs WHERE tenant_id = '${tenantId}' AND offset = ${bad.length} AND body = 'body' AND length(attributes) = 8`,
        );
        t.is(last?.rows, '1');
      },
    ),
    { numRuns: 10, seed: 20_260_302 },
  );
});
