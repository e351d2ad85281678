/** Random records, and random searches that match some of them. */
import fc from 'fast-check';
import type { SearchSignal } from '../../queries/signals/index.ts';

const valueTexts = [
  '',
  '10',
  '10.0',
  '1e1',
  '-5',
  '007',
  '.5',
  '5.',
  '+5',
  ' 10',
  '0x10',
  'inf',
  'NaN',
  'Infinity',
  '1e400',
  '-0',
  'true',
  'foo',
  'foobar',
  'Foo',
  'fo%r',
  'f_o',
  'a\\b',
  "it's",
  'é',
  'e\u0301',
  '😀',
  '\uffee',
  'ÄRGER',
  'two words',
  'line\nbreak',
  'null',
  '[1,2]',
  '9007199254740993',
  'x'.repeat(3000),
  `${'ab '.repeat(500)}foo`,
];
const bodyTexts = [
  'Payment failed: order-42',
  'payment accepted (order 42)',
  'PAYMENT  FAILED',
  'failed payment',
  'payments failed',
  'unfailed',
  'a_b a-b',
  'x\ny',
  'Ärger mit Größe',
  'ärger',
  'naïve',
  'naive',
  '😀word 😀',
  'e\u0301te',
  'été',
  `${'lorem ipsum '.repeat(400)}needle`,
  'GET /api/users?id=7 200',
  '{"a": "payment"}',
  '{"b": {"c": 10, "d.e": "foo"}, "list": ["foo", "f\\"o\\u006f", 1e1, null], "maps": [{"n": "foo"}, {"n": [1, true]}]}',
  ' [{"a": "foo"}, {"a": 12345678901234567890}, "x"] ',
  '\u001b[32m{"a": "foo"}\u001b[0m',
  '{"a": "foo"',
  '{"a": "\\ud800"}',
  'payment.failed',
  'failed payment failed',
  'payment order failed',
  '\u212aelvin',
  'Kelvin',
  ...valueTexts,
];

const strings = valueTexts.map((stringValue) => ({ stringValue }));
const others: readonly object[] = [
  ...['10', '-5', '0', '9007199254740993', '9007199254740992', '-9223372036854775808', '200'].map((intValue) => ({
    intValue,
  })),
  ...[10, 0.5, -5, 1e21, 1e-7, 9007199254740992, Number.NaN, Number.POSITIVE_INFINITY, -0].map((doubleValue) => ({
    doubleValue,
  })),
  { boolValue: true },
  { boolValue: false },
  { arrayValue: { values: [{ intValue: '1' }, { intValue: '2' }] } },
  { kvlistValue: { values: [{ key: 'foo', value: { stringValue: 'bar' } }] } },
  {
    kvlistValue: {
      values: [
        { key: 'b', value: { doubleValue: 10 } },
        { key: 'b.c', value: { boolValue: true } },
        {
          key: 'list',
          value: { arrayValue: { values: [{ stringValue: 'foo' }, { intValue: '9007199254740993' }, {}] } },
        },
        {
          key: 'maps',
          value: {
            arrayValue: {
              values: ['10', 'foo', 'f"o\\o'].map((stringValue) => ({
                kvlistValue: { values: [{ key: 'n', value: { stringValue } }] },
              })),
            },
          },
        },
        { key: 'deep', value: { arrayValue: { values: [{ arrayValue: { values: [{ doubleValue: 0.5 }] } }] } } },
        { key: 'empty', value: { arrayValue: { values: [] } } },
      ],
    },
  },
  {
    arrayValue: {
      values: [{ stringValue: 'foo' }, { stringValue: 'foobar' }, { stringValue: '1e1' }, { doubleValue: -5 }],
    },
  },
  { arrayValue: { values: Array.from({ length: 140 }, (_, index) => ({ intValue: String(index) })) } },
  { bytesValue: new Uint8Array([1, 2, 3]) },
  {},
];
const anyValue: fc.Arbitrary<object> = fc.oneof(fc.constantFrom(...strings), fc.constantFrom(...others));

const keys = ['k', 'n', 'a.b', "o'k", 'body', 'name', 'resource.k', 'ключ'] as const;
const attributes = fc.array(fc.record({ key: fc.constantFrom(...keys), value: anyValue }), { maxLength: 6 });
/** Scopes have each attribute key once. */
const scope = fc.record({
  name: fc.constantFrom('', 'library'),
  version: fc.constantFrom('', '10'),
  attributes: fc.uniqueArray(
    fc.record({
      key: fc.constantFrom('k', 'n'),
      value: fc.constantFrom({ stringValue: 'foo' }, { intValue: '10' }, { boolValue: true }),
    }),
    {
      selector: ({ key }) => key,
    },
  ),
});
const resource = fc
  .tuple(attributes, fc.constantFrom('cart', 'Cart', 'shop', ''))
  .map(([list, service]) => ({ attributes: [...list, { key: 'service.name', value: { stringValue: service } }] }));
const id = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.constantFrom(0, 1, 0xab).map((byte) => new Uint8Array(length).fill(byte));
const time = fc.constantFrom('0', '1772359200000000000', '1772359200000000001', '1772359201000000000');

const logRecord = fc.record(
  {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: fc.constantFrom(0, 1, 9, 12, 13, 16, 17, 20, 21, 24, 30),
    severityText: fc.constantFrom('', 'error', 'ERROR', 'Warn', 'warning', 'CRITICAL', 'custom', 'notice', 'info'),
    body: fc.oneof(
      fc.constantFrom(...bodyTexts).map((stringValue) => ({ stringValue })),
      anyValue,
    ),
    eventName: fc.constantFrom('', 'foo', 'Foo'),
    attributes,
    flags: fc.constantFrom(0, 1),
    traceId: id(16),
    spanId: id(8),
  },
  { requiredKeys: [] },
);
const span = fc.record(
  {
    name: fc.constantFrom(...bodyTexts),
    kind: fc.constantFrom(0, 1, 2, 3, 4, 5),
    status: fc.record(
      { code: fc.constantFrom(0, 1, 2), message: fc.constantFrom('', 'foo', 'payment failed') },
      { requiredKeys: [] },
    ),
    startTimeUnixNano: time,
    endTimeUnixNano: fc.constantFrom('0', '1772359200100000000', '1772359200100000001', '1772359202000000000'),
    traceState: fc.constantFrom('', 'foo', 'a=b'),
    attributes,
    flags: fc.constantFrom(0, 1),
    traceId: id(16),
    spanId: id(8),
    parentSpanId: id(8),
    events: fc.array(fc.record({ name: fc.constantFrom('', 'exception'), attributes }), { maxLength: 3 }),
    links: fc.array(fc.record({ traceId: id(16), attributes }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const list = <Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> => fc.array(item, { minLength: 1, maxLength: 8 });
/** Export requests with several resources and scopes. */
export const requests: Readonly<Record<SearchSignal, fc.Arbitrary<object>>> = {
  logs: fc.record({
    resourceLogs: list(fc.record({ resource, scopeLogs: list(fc.record({ scope, logRecords: list(logRecord) })) })),
  }),
  traces: fc.record({
    resourceSpans: list(fc.record({ resource, scopeSpans: list(fc.record({ scope, spans: list(span) })) })),
  }),
};

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;
const wordForms = [
  'payment',
  'FAILED',
  'order-42',
  'pay',
  'ärger',
  'Ärger',
  'needle',
  '😀',
  '😀word',
  'a_b',
  '10',
  'api/users',
  '---',
  '*',
  'e\u0301te',
  'été',
  'kelvin',
  'true',
  'pay*',
  '*ment',
  'p*t',
  '*ay*',
  'ord*-4*',
  'f*l*d',
  '*é*',
  '"payment failed"',
  '"order 42"',
  '"failed payment failed"',
  '"PAYMENT"',
  '"a b"',
  '"--"',
  '"mit größe"',
  '"mit Größe"',
  '/fail(ed|ure)/',
  '/(?i)payment +failed/',
  '/^$/',
  '/x.y/',
  '/\\d{2}$/',
  '/\\bfailed\\b/',
  '/[^ -~]/',
  '/\\pL\\/?/',
  '/(?m)^y$/',
  '/(?i)k/',
  '/😀\\w/',
  '/^.{5}$/',
  '/(a|ab)(c|bcd)*/',
];
const words = fc.constantFrom(...wordForms);
const plainValues = [
  '10',
  '10.0',
  '1e1',
  '1E1',
  '+10',
  '-5',
  '.5',
  '007',
  'true',
  'false',
  'foo',
  'Foo',
  'foo*',
  '*bar',
  'f*r',
  'f*%*',
  '*_*',
  '*',
  '**',
  'é',
  "it's",
  'a\\\\b',
  'fo%r',
  '9007199254740993',
  '9007199254740992',
  '1e21',
  '1000000000000000000000',
  'NaN',
  'null',
  '-0',
  '0',
  '[1,2]',
  '>5',
  '>=10',
  '<10',
  '<=1e1',
  '>0.5',
  '<0',
  '>foo',
  '<=foo',
  '>"1"',
  '>=é',
  '<\uffee',
  '>"😀"',
  '<=😀',
  '[1 TO 10]',
  '{1 TO 10}',
  '[1 TO 10}',
  '[* TO 5]',
  '[-5 TO *]',
  '{a TO foo}',
  '[* TO *]',
  '["" TO "10"]',
  '[9007199254740992 TO 9007199254740993}',
  '/^fo+/',
  '/^$/',
  '/(?i)FOO/',
  '/o/',
  '/^.$/',
  '/\\n/',
  '(10 OR foo)',
  '(f* AND *r)',
  '(NOT foo)',
  '""',
  '"10"',
  '"two words"',
  '"it\'s"',
] as const;
const valueForms = [...plainValues, ...valueTexts.filter((text) => text.length < 500).map(quoted)];
const values = fc.constantFrom(...valueForms);
/** Paths of values inside arrays and maps of an attribute or body. */
const paths = ['a', 'b', 'b.c', 'b.d.e', 'list', 'maps.n', 'deep', 'foo', 'maps', 'empty', 'missing'];
const names = fc.constantFrom(
  ...['k', 'resource.k', 'attribute.k'].flatMap((name) =>
    ['b', 'b.c', 'list', 'maps.n', 'maps'].map((path) => `${name}.${path}`),
  ),
  'k',
  'n',
  'a.b',
  '"o\'k"',
  'ключ',
  'missing',
  'attribute.k',
  'attribute.body',
  'attribute.name',
  'attribute.resource.k',
  'resource.k',
  'resource.n',
  'scope.k',
  'scope.n',
  'resource.service.name',
  'service',
  'service.name',
  'scope.name',
  'scope.version',
  'projectId',
  'traceId',
  'spanId',
  'flags',
);
const ownNames: Readonly<Record<SearchSignal, fc.Arbitrary<string>>> = {
  logs: fc.constantFrom(
    ...paths.map((path) => `body.${path}`),
    'body',
    'eventName',
    'severity',
    'severityNumber',
    'severityText',
    'level',
  ),
  traces: fc.constantFrom(
    ...['name', 'statusMessage', 'traceState', 'kind', 'status', 'parentSpanId'],
    ...['events.k.list', 'events.k.maps.n', 'links.k.foo', 'links.k.b'],
    ...['events.k', 'events.n', 'links.k', 'links.a.b', 'events.missing', '"links.o\'k"', 'attribute.events.k'],
  ),
};
const trace = 'ab'.repeat(16);
const typedForms: Readonly<Record<SearchSignal, readonly string[]>> = {
  logs: [
    'severity:error',
    'severity:ERROR',
    'severity:error4',
    'severity:warning',
    'severity:CRITICAL',
    'severity:custom',
    'severity:"Warn"',
    'severity:>=warn',
    'severity:>warn',
    'severity:<=warn',
    'severity:<warn',
    'severity:<info2',
    'severity:[warn TO error]',
    'severity:{info TO fatal}',
    'severity:{* TO error}',
    'severity:>=critical',
    'severity:*',
    'severity:""',
    'severity:/^(?i)w/',
    'severityNumber:[13 TO 17}',
    'severityNumber:>12.5',
    'timestamp:>2026-03-01T10:00:00Z',
    'timestamp:[2026-03-01 TO 2026-03-01T10:00:00.000000001Z}',
    'timestamp:1772359200000',
    'observedTimestamp:>=1772359201000',
    'body:*',
    'body:payment',
    'body:"payment failed"',
    'body:pay*',
    'body:(payment OR 10)',
    'body:/^\\{/',
  ],
  traces: [
    'duration:>100ms',
    'duration:>=100ms',
    'duration:100ms',
    'duration:<0.2s',
    'duration:[0ms TO 100ms]',
    'duration:{0ms TO 2s}',
    'kind:server',
    'kind:Client',
    'kind:3',
    'kind:>=client',
    'status:error',
    'status:ERROR',
    'status:{unset TO error]',
    'NOT status:ok',
    'kind:*',
    'parentSpanId:*',
    'parentSpanId:""',
    'name:payment*',
    'name:"Payment failed: order-42"',
    'timestamp:>=2026-03-01T10:00:00Z',
    'status_code:2',
  ],
};

const atom = (signal: SearchSignal): fc.Arbitrary<string> =>
  fc.oneof(
    words,
    fc.tuple(fc.oneof(names, ownNames[signal]), values).map(([name, value]) => `${name}:${value}`),
    fc.constantFrom(...typedForms[signal]),
    fc.constantFrom(
      `traceId:${trace}`,
      `traceId:${trace.toUpperCase()}`,
      'traceId:ab*',
      'traceId:""',
      'traceId:*',
      'spanId:0101010101010101',
      'traceId:/^ab/',
    ),
  );

/** Texts of searches; a few have values that the field does not accept, and are rejected. */
export const searches = (signal: SearchSignal): fc.Arbitrary<string> =>
  fc.letrec<{ search: string; and: string; or: string; not: string; atom: string }>((tie) => ({
    search: fc.oneof({ maxDepth: 3, depthSize: 'small' }, tie('atom'), tie('atom'), tie('and'), tie('or'), tie('not')),
    atom: atom(signal),
    and: fc.tuple(tie('search'), fc.constantFrom(' ', ' AND '), tie('search')).map((parts) => parts.join('')),
    or: fc.tuple(tie('search'), tie('search')).map((parts) => `(${parts.join(' OR ')})`),
    not: tie('search').map((search) => `NOT (${search})`),
  })).search;

const spansWithParts = [...strings, ...others].flatMap((value) => {
  const part = { attributes: [{ key: 'k', value }] };
  return [{ events: [{}, part] }, { links: [part, { attributes: [{ key: 'n', value }] }] }];
});

/**
 * Records that cover all of this: values of an attribute and of a resource attribute, with and without the other one;
 * texts; field values.
 */
const everyRecord = (one: string): object[] => [
  {},
  ...[...strings, ...others].map((value) => ({ attributes: [{ key: 'k', value }] })),
  {
    attributes: [
      { key: 'k', value: { stringValue: 'foo' } },
      { key: 'k', value: { intValue: '10' } },
    ],
  },
  ...(one === 'body' ? [] : spansWithParts),
  ...(one === 'body'
    ? bodyTexts.map((stringValue) => ({ body: { stringValue } }))
    : bodyTexts.map((name) => ({ name }))),
];
const resourceValues = [
  undefined,
  { stringValue: 'foo' },
  { stringValue: '10' },
  { intValue: '10' },
  { doubleValue: 0.5 },
  others.at(-5),
  others.at(-4),
];
const everyResource = resourceValues.map((value) => ({
  attributes: [
    { key: 'service.name', value: { stringValue: 'cart' } },
    ...(value === undefined ? [] : [{ key: 'k', value }]),
  ],
}));
const times = { timeUnixNano: '1772359200000000001', startTimeUnixNano: '1772359200000000000' };
const severities = [0, 1, 9, 12, 13, 16, 17, 20, 21, 24, 30].flatMap((severityNumber) =>
  ['', 'error', 'Warn', 'CRITICAL', 'custom', 'İnfo'].map((severityText) => ({
    ...times,
    severityNumber,
    severityText,
  })),
);
const kinds = [0, 1, 2, 3, 4, 5].flatMap((kind) =>
  ['0', '1772359200100000000', '1772359200100000001', '1772359202000000000'].map((endTimeUnixNano, index) => ({
    ...times,
    kind,
    status: { code: index % 3 },
    endTimeUnixNano,
  })),
);
export const everyValue: Readonly<Record<SearchSignal, object>> = {
  logs: {
    resourceLogs: everyResource.map((resource) => ({
      resource,
      scopeLogs: [
        { logRecords: [...everyRecord('body'), ...severities.map(({ startTimeUnixNano: _start, ...rest }) => rest)] },
      ],
    })),
  },
  traces: {
    resourceSpans: everyResource.map((resource) => ({
      resource,
      scopeSpans: [{ spans: [...everyRecord('name'), ...kinds.map(({ timeUnixNano: _time, ...rest }) => rest)] }],
    })),
  },
};
export const everyForm: Readonly<Record<SearchSignal, readonly string[]>> = {
  logs: [
    ...wordForms,
    ...typedForms.logs,
    ...[
      'k',
      'resource.k',
      'attribute.k',
      'body',
      'k.list',
      'k.maps.n',
      'resource.k.foo',
      'body.a',
      'body.list',
    ].flatMap((name) => valueForms.map((value) => `${name}:${value}`)),
    ...paths.flatMap((path) =>
      ['k', 'attribute.k', 'resource.k', 'body'].flatMap((name) => [
        `${name}.${path}:*`,
        `NOT ${name}.${path}:foo`,
        `${name}.${path}:10`,
        `${name}.${path}:>5`,
        `${name}.${path}:f*`,
      ]),
    ),
  ],
  traces: [
    ...wordForms,
    ...typedForms.traces,
    ...['k', 'resource.k', 'attribute.k', 'name', 'events.k', 'links.k', 'k.list', 'events.k.maps.n'].flatMap((name) =>
      valueForms.map((value) => `${name}:${value}`),
    ),
    ...paths.flatMap((path) =>
      ['k', 'resource.k', 'events.k', 'links.k'].flatMap((name) => [
        `${name}.${path}:*`,
        `NOT ${name}.${path}:foo`,
        `${name}.${path}:10`,
        `${name}.${path}:>5`,
      ]),
    ),
  ],
};
