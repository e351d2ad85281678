/** Values inside arrays, maps and JSON bodies: found by their path in storage, live tail and alert rules; grouped, listed and limited. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { listCatalogue } from '../../queries/fields/catalogue.ts';
import { readTopValues } from '../../queries/fields/values.ts';
import { buildListHint } from '../../queries/hints/lists.ts';
import { buildFilter, type FilterRequest } from '../../queries/live-tail/filter.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { run } from '../../queries/run.ts';
import type { SearchSignal } from '../../queries/signals/index.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { nestedLimits } from '../../schemas/records/nested-values.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import type { AlertRule } from '../../subjects/alerts/rule.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { logsRequest, messageOf, openTables, receivedAtMs, type Tables, text, tracesRequest } from './sink-tables.ts';

type AnyValue = object;
const anyValue = (value: unknown): AnyValue => {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { kvlistValue: { values: attributesOf(value as object) } };
};
const attributesOf = (values: object): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));

const nanoseconds = (milliseconds: number): string => String(BigInt(milliseconds) * 1_000_000n);
const at = receivedAtMs - 60_000;
const range = { from: BigInt(nanoseconds(at - 60_000)), to: BigInt(nanoseconds(at + 60_000)) };
const resource = {
  attributes: [
    text('service.name', 'shop'),
    ...attributesOf({ 'process.command_args': ['node', '--inspect'], os: { arch: 'arm64' } }),
  ],
};

const attributes = [
  {
    user: { id: 'u-3', address: { city: 'Ulm' } },
    hdr: ['a', 'b', 'a'],
    items: [
      { sku: 'x', price: 9.5 },
      { sku: 'y', price: 20 },
    ],
    'user.name': 'ann',
    big: { id: 9007199254740993n, ok: true, none: null, 'app.io/name': 'web' },
  },
  { user: { id: 'u-4' }, hdr: 'b', items: [{ sku: 'y', price: 1 }] },
  { user: 'u-3', 'user.id': 'u-5' },
] as const;
const bodies = [
  { order: { id: 'o-1' }, lines: [{ n: 1 }, { n: 2 }] },
  '{"user": {"id": "u-1"}, "took": 12.50, "tags": ["x", "y"], "text": "say \\"hi\\" \\u00e9"}',
  'order o-1 of {"user": {"id": "u-1"}}',
];

const requests = {
  logs: {
    resourceLogs: [
      {
        resource,
        scopeLogs: [
          {
            logRecords: attributes.map((each, index) => ({
              timeUnixNano: nanoseconds(at),
              severityNumber: 9,
              body: anyValue(bodies[index]),
              attributes: attributesOf(each),
            })),
          },
        ],
      },
    ],
  },
  traces: {
    resourceSpans: [
      {
        resource,
        scopeSpans: [
          {
            spans: attributes.map((each, index) => ({
              traceId: Buffer.alloc(16, index + 1),
              spanId: Buffer.alloc(8, index + 1),
              name: `call ${index + 1}`,
              startTimeUnixNano: nanoseconds(at),
              endTimeUnixNano: nanoseconds(at + 5),
              attributes: attributesOf(each),
              events: [{ name: 'cart', attributes: attributesOf({ cart: { items: [`i-${index}`, 'i-9'] } }) }],
              links: [{ attributes: attributesOf({ batch: [index] }) }],
            })),
          },
        ],
      },
    ],
  },
};
const messages: Readonly<Record<SearchSignal, ScanMessage>> = {
  logs: messageOf([logsRequest(requests.logs)]),
  traces: messageOf([tracesRequest(requests.traces)], { signal: 'traces' }),
};
const sources: Readonly<Record<SearchSignal, Source<RecordView>>> = { logs: logRecords, traces: spans };

let tables: Tables;
test.before(async () => {
  tables = await openTables();
  for (const signal of ['logs', 'traces'] as const) await tables.land([messages[signal]], { sink: signal });
});
test.after.always(() => tables.close());

const createReader = (tenantId = 'acme'): TenantReader =>
  ({
    columns: tables.columns.forTenant(tenantId),
    plan: { name: 'all', entitlements: ['logs', 'traces'], retentionDays: { logs: 30, metrics: 30, traces: 30 } },
    nowMs: receivedAtMs,
  }) as TenantReader;

const viewsOf = (signal: SearchSignal, visit: (record: RecordView) => void): void => {
  const { value, ...message } = messages[signal];
  const sent = { ...message, key: '', value: Buffer.from(value) };
  for (const record of iterateItems(sources[signal], sent, { topic: 'any', partition: 0 })) visit(record);
};

const findStored = async (signal: SearchSignal, search: string): Promise<number[]> => {
  const field = signal === 'logs' ? 'body' : 'name';
  const query: QueryRequest = { kind: 'rows', signal, fields: [field], search };
  const { rows } = await run(query, createReader(), { range });
  const names =
    signal === 'logs'
      ? bodies.map((body) => (typeof body === 'string' ? body : JSON.stringify(body)))
      : ['call 1', 'call 2', 'call 3'];
  return rows.map(([name]) => names.indexOf(String(name)) + 1).toSorted();
};

const findStreamed = (signal: SearchSignal, request: Partial<FilterRequest>): number[] => {
  const filter = buildFilter({ signal: signal === 'logs' ? 'logs' : 'spans', ...request } as FilterRequest);
  const found: number[] = [];
  viewsOf(signal, (record) => {
    if ((filter.matches as (view: RecordView) => boolean)(record)) found.push(record.ordinal + 1);
  });
  return found;
};

const countForRule = async (signal: SearchSignal, search: string): Promise<number> => {
  const query = { kind: 'aggregate', signal, measures: [{ function: 'count' }], search, groupBy: [], limit: 10 };
  const rule = {
    id: 'r',
    name: 'r',
    condition: { kind: 'threshold', query, window: '2m', comparison: 'above', threshold: 0 },
  };
  const result = await queryRule(rule as unknown as AlertRule, createReader(), { nowMs: at + 60_000 });
  return result.kind === 'groups' ? Number(result.groups[0]?.points.at(-1) ?? 0) : Number.NaN;
};

const common: Readonly<Record<string, readonly number[]>> = {
  'user.id:u-3': [1],
  'user.id:u-5': [3],
  'user.id:u-*': [1, 2, 3],
  'user.id:/4$/': [2],
  'NOT user.id:u-3': [2, 3],
  'attribute.user.id:u-4': [2],
  'user.address.city:Ulm': [1],
  'user.address.city:*': [1],
  'user.address:*': [1],
  'user:*': [1, 2, 3],
  'user:u-3': [3],
  'user:*u-3*': [1, 3],
  'user.name:ann': [1],
  'hdr:a': [1],
  'hdr:b': [1, 2],
  'hdr:(a OR b)': [1, 2],
  '-hdr:a': [2, 3],
  'hdr:c': [],
  'hdr:*': [1, 2],
  'items.sku:x': [1],
  'items.sku:y': [1, 2],
  'items.price:>9': [1],
  'items.price:<5': [2],
  'items.price:[5 TO 10]': [1],
  'items.price:20.0': [1],
  'items.sku:>=y': [1, 2],
  'items:*': [1, 2],
  'big.id:9007199254740993': [1],
  'big.ok:true': [1],
  'big.none:*': [1],
  'big.none:""': [1],
  'big.app.io/name:web': [1],
  'big.missing:*': [],
  'process.command_args:node': [1, 2, 3],
  'resource.process.command_args:"--inspect"': [1, 2, 3],
  'os.arch:arm64': [1, 2, 3],
  'resource.os.arch:x86': [],
  'resource.os:*': [1, 2, 3],
};
const ofSignal: Readonly<Record<SearchSignal, Readonly<Record<string, readonly number[]>>>> = {
  logs: {
    ...common,
    'body.order.id:o-1': [1],
    'order.id:o-1': [],
    'body.lines.n:2': [1],
    'body.lines.n:>2': [],
    'body.order:*': [1],
    'body.user.id:u-1': [2],
    'NOT body.user.id:*': [1, 3],
    'body.took:12.5': [2],
    'body.took:>12': [2],
    'body.tags:y': [2],
    'body.text:"say \\"hi\\" é"': [2],
    'body.missing:*': [],
    'attribute.body.user.id:*': [],
  },
  traces: {
    ...common,
    'events.cart.items:i-1': [2],
    'events.cart.items:i-9': [1, 2, 3],
    'NOT events.cart.items:i-1': [1, 3],
    'events.cart:*': [1, 2, 3],
    'links.batch:>0': [2, 3],
    'body.user.id:u-1': [],
  },
};

for (const signal of ['logs', 'traces'] as const)
  for (const [search, found] of Object.entries(ofSignal[signal]))
    test(`${search} of ${signal} finds ${found.join(', ') || 'nothing'} in storage, live tail and alert rules`, async (t) => {
      t.deepEqual(await findStored(signal, search), found);
      t.deepEqual(findStreamed(signal, { search }), found);
      t.is(await countForRule(signal, search), found.length);
    });

test('a filter of a live tail applies to values inside arrays and maps', (t) => {
  t.deepEqual(findStreamed('logs', { attribute: 'user.id=u-3' }), [1]);
  t.deepEqual(findStreamed('logs', { attribute: 'hdr=b' }), [1, 2]);
  t.deepEqual(findStreamed('traces', { attribute: 'process.command_args=node' }), [1, 2, 3]);
});

const group = async (signal: SearchSignal, ...groupBy: string[]): Promise<unknown[][]> => {
  const query = {
    kind: 'aggregate',
    signal,
    measures: [{ function: 'count' }],
    groupBy,
    order: { by: groupBy[0], direction: 'ascending' },
  };
  const { rows } = await run(query as QueryRequest, createReader(), { range });
  return rows.map((row) => row.map(String));
};

test('a group counts a record once for each distinct value inside its arrays', async (t) => {
  for (const signal of ['logs', 'traces'] as const) {
    t.deepEqual(await group(signal, 'hdr'), [
      ['', '1'],
      ['a', '1'],
      ['b', '2'],
    ]);
    t.deepEqual(await group(signal, 'items.sku'), [
      ['', '1'],
      ['x', '1'],
      ['y', '2'],
    ]);
    t.deepEqual(await group(signal, 'user.id'), [
      ['u-3', '1'],
      ['u-4', '1'],
      ['u-5', '1'],
    ]);
    t.deepEqual(await group(signal, 'process.command_args'), [
      ['--inspect', '3'],
      ['node', '3'],
    ]);
    t.deepEqual(await group(signal, 'hdr', 'service'), [
      ['', 'shop', '1'],
      ['a', 'shop', '1'],
      ['b', 'shop', '2'],
    ]);
  }
  t.deepEqual(await group('logs', 'body.tags'), [
    ['', '2'],
    ['x', '1'],
    ['y', '1'],
  ]);
});

test('fields and their values are listed by path', async (t) => {
  const { fields } = await listCatalogue(createReader(), { signal: 'logs', range, limit: 200 });
  const names = fields.flatMap(({ name, types }) => types.map(({ type }) => `${name} ${type}`));
  for (const name of [
    'user json',
    'user.id string',
    'user.address.city string',
    'hdr json',
    'items.price double',
    'big.id integer',
    'body.user.id string',
    'body.order.id string',
    'body.took double',
    'resource.process.command_args json',
    'resource.os.arch string',
  ])
    t.true(names.includes(name), `${name} is one of ${names.join(', ')}`);
  const valuesOf = async (name: string) =>
    (await readTopValues(createReader(), { signal: 'logs', name, range, limit: 10 })).values.map(
      ({ value, records }) => [value, records],
    );
  t.deepEqual(await valuesOf('hdr'), [
    ['b', 2],
    ['a', 1],
  ]);
  t.deepEqual(await valuesOf('body.user.id'), [['u-1', 1]]);
});

test('records show the attributes that were sent, and columns show the values of a path', async (t) => {
  const select = async (fields?: string[]) => {
    const query = { kind: 'rows', signal: 'logs', ...(fields === undefined ? {} : { fields }), search: 'user.id:u-3' };
    const { columns, rows } = await run(query as QueryRequest, createReader(), { range });
    return Object.fromEntries(columns.map(({ name }, index) => [name, rows[0]?.[index]]));
  };
  const whole = await select();
  t.deepEqual(Object.keys(whole['attributes'] as object), Object.keys(attributes[0]));
  t.deepEqual(Object.keys(whole['resource'] as object).toSorted(), ['os', 'process.command_args', 'service.name']);
  t.deepEqual(await select(['user.id', 'hdr', 'items.sku', 'body.order.id', 'os.arch', 'big.ok']), {
    'user.id': 'u-3',
    hdr: ['a', 'b', 'a'],
    'items.sku': ['x', 'y'],
    'body.order.id': 'o-1',
    'os.arch': 'arm64',
    'big.ok': true,
  });
});

test('hints know the paths', async (t) => {
  const hint = async (search: string) => {
    const span = { from: String(at - 60_000), to: String(at + 60_000) };
    return (await buildListHint('logs', { ...span, search }, [], createReader())).hint ?? '';
  };
  t.regex(
    await hint('user.idd:u-3'),
    /has user.idd; similar names: .*user.id.*; arrays and maps that were stored by an earlier version are searched in their text: user:\*u-3\*$/,
  );
  t.regex(await hint('order.id:o-1'), /has order.id; similar names: .*body.order.id/);
  t.regex(await hint('body.user.id:U-1'), /has body.user.id "U-1"; it exists as "u-1"/);
  t.regex(await hint('hdr:zzz'), /it has values such as "b"/);
});

test('values beyond the limits are omitted and counted, and the record lands', async (t) => {
  const { values: maxValues, valueCharacters, depth } = nestedLimits;
  const deep = `${'{"d":'.repeat(depth + 5)}1${'}'.repeat(depth + 5)}`;
  const hostile: readonly [object, number][] = [
    [{ list: Array.from({ length: maxValues + 7 }, (_, index) => index) }, 7],
    [{ map: { long: 'x'.repeat(valueCharacters + 1), short: 'y' } }, 1],
    [{ body: deep }, 1],
    [{ ['k'.repeat(600)]: { a: 'b' } }, 1],
    [{ map: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 'z'.repeat(1_000)])) }, 52],
  ];
  for (const [index, [sent, omitted]] of hostile.entries()) {
    const tenantId = `hostile-${index}`;
    const { body = 'x', ...sentAttributes } = sent as { readonly body?: string };
    const logRecord = {
      timeUnixNano: nanoseconds(at),
      body: anyValue(body),
      attributes: attributesOf(sentAttributes),
    };
    const request = logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: [logRecord] }] }] });
    const { rows, rejected } = await tables.land([messageOf([request], { tenantId })]);
    t.deepEqual([rows['logs'], rejected.length], [1, 0]);
    const { excludedAttributeCount } = await listCatalogue(createReader(tenantId), {
      signal: 'logs',
      range,
      limit: 200,
    });
    // A long name is counted too, but not by name.
    t.is(excludedAttributeCount, index === 3 ? omitted + 1 : omitted, `case ${index}`);
  }
});

test('a streamed record has the values that land', async (t) => {
  const views: string[][] = [];
  viewsOf('logs', (record) =>
    views.push(
      [...record.nestedAttributes, ...(record as LogRecord).bodyValues].map(
        ({ path, text: value, type }) => `${path} ${type} ${value}`,
      ),
    ),
  );
  const rows = await tables.read<{ values: string[] }>(
    `SELECT arrayMap((k, v, t) -> concat(k, ' ', lower(t), ' ', v), arrayConcat(arrayFilter((k, t) -> t < 'a', mapKeys(attributes), splitByString('', substring(attribute_types, 1, length(attributes)))), mapKeys(body_values)),
      arrayConcat(arrayFilter((v, t) -> t < 'a', mapValues(attributes), splitByString('', substring(attribute_types, 1, length(attributes)))), mapValues(body_values)),
      arrayConcat(arrayFilter(t -> t < 'a', splitByString('', substring(attribute_types, 1, length(attributes)))), splitByString('', substring(body_value_types, 1, length(body_values))))) AS values
    FROM logs WHERE tenant_id = 'acme' ORDER BY ordinal`,
  );
  t.deepEqual(
    rows.map(({ values }) => values),
    views,
  );
});
