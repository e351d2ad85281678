/** What counts as an error, and how often. */
import test from 'ava';
import { estimateBytes } from '../../processors/engine/state.ts';
import { toChunks } from '../../processors/engine/task-snapshot.ts';
import { errorOccurrences } from '../../processors/errors/error-occurrences.ts';
import { logErrors } from '../../processors/errors/log-errors.ts';
import { spanErrors } from '../../processors/errors/span-errors.ts';
import { compileOnce } from '../../schemas/compile-once.ts';
import { type ErrorOccurrence, RaisedError } from '../../schemas/error-occurrences.ts';
import { topics } from '../../schemas/topics.ts';
import { firstMs, TaskRun } from './run-task.ts';
import { text } from './sink-tables.ts';

const cart = { 'service.name': 'cart', 'service.version': '1.2', 'deployment.environment': 'live', 'host.name': 'h1' };
const traceId = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
const idOf = (number: number): Buffer => Buffer.from(number.toString(16).padStart(16, '0'), 'hex');
const ns = (ms: number): string => `${BigInt(ms) * 1_000_000n}`;

interface SpanFields {
  readonly id?: number;
  readonly parent?: number;
  readonly failed?: boolean;
  readonly exceptions?: readonly (readonly [type: string, message: string, stack?: string])[];
  readonly attributes?: readonly object[];
  readonly message?: string;
  readonly kind?: number;
  readonly atMs?: number;
}
const span = ({
  id = 1,
  parent,
  failed = true,
  exceptions = [],
  attributes = [],
  message = '',
  kind = 2,
  atMs = firstMs,
}: SpanFields) => ({
  traceId,
  spanId: idOf(id),
  ...(parent !== undefined && { parentSpanId: idOf(parent) }),
  kind,
  name: 'GET /cart/17',
  startTimeUnixNano: ns(atMs - 5),
  endTimeUnixNano: ns(atMs),
  status: { code: failed ? 2 : 0, message },
  attributes,
  events: exceptions.map(([type, text_, stack]) => ({
    name: 'exception',
    timeUnixNano: ns(atMs - 2),
    attributes: [
      text('exception.type', type),
      text('exception.message', text_),
      ...(stack === undefined ? [] : [text('exception.stacktrace', stack)]),
    ],
  })),
});
const log = (
  body: string,
  { severity = 17, attributes = [] as readonly object[], spanId = 0, severityText = '', atMs = firstMs } = {},
) => ({
  timeUnixNano: ns(atMs),
  severityNumber: severity,
  severityText,
  body: { stringValue: body },
  attributes,
  ...(spanId > 0 && { traceId, spanId: idOf(spanId) }),
});

const raisedBySpans = (...records: readonly object[]): RaisedError[] => {
  const run = new TaskRun(spanErrors);
  run.spans(records, cart);
  return run.emitted<RaisedError>(topics.raisedErrors);
};
const raisedByLogs = (...records: readonly object[]): RaisedError[] => {
  const run = new TaskRun(logErrors);
  run.logs(records, cart);
  return run.emitted<RaisedError>(topics.raisedErrors);
};

const counted = (raised: readonly RaisedError[], until = firstMs + 120_000): ErrorOccurrence[] => {
  const run = new TaskRun(errorOccurrences);
  for (const each of raised) {
    run.values([each]);
    run.restart();
  }
  run.tick(until);
  return run.emitted<ErrorOccurrence>(topics.errorOccurrences);
};

const logsThatAreNone: Readonly<Record<string, object>> = {
  'an INFO': log('all is well', { severity: 9 }),
  'a WARN without an exception': log('slow', { severity: 13 }),
  'an exception at INFO': log('retried', { severity: 9, attributes: [text('exception.type', 'IOError')] }),
  'INFO in its text alone': log('all is well', { severity: 0, severityText: 'Info' }),
  'one without a severity': log('error: none', { severity: 0 }),
};
for (const [title, record] of Object.entries(logsThatAreNone))
  test(`${title} is not an error`, (t) => t.deepEqual(raisedByLogs(record), []));

const logsThatAreErrors: Readonly<Record<string, [object, Partial<RaisedError>]>> = {
  'an ERROR': [
    log('order 17 is lost'),
    {
      type: '',
      message: 'order 17 is lost',
      components: [
        ['message', 'order <*> is lost'],
        ['service', 'cart'],
        ['project', 'shop'],
      ],
    },
  ],
  'a FATAL only in the text': [log('gone', { severity: 0, severityText: 'emerg' }), { message: 'gone' }],
  'an exception at WARN': [
    log('retried', {
      severity: 13,
      attributes: [text('exception.type', 'IOError'), text('exception.message', 'no disk')],
    }),
    { type: 'IOError', message: 'no disk' },
  ],
  'an exception without a severity': [
    log('x', { severity: 0, attributes: [text('exception.type', 'IOError')] }),
    { type: 'IOError', message: 'x' },
  ],
  'a stack in the body': [
    log(
      'cannot serve: TypeError: no sku\n    at total (/srv/app/src/cart.js:1:2)\n    at run (/srv/app/src/web.js:1:2)',
    ),
    { type: 'TypeError', message: 'no sku', culprit: 'src/cart.js total' },
  ],
  'a traceback in the body': [
    log(
      'Exception on /cart\nTraceback (most recent call last):\n  File "/srv/app/cart.py", line 1, in total\n    x()\nKeyError: 17',
    ),
    { type: 'KeyError', message: 'Exception on /cart', culprit: 'app/cart.py total' },
  ],
  'only a traceback': [
    log(
      'Traceback (most recent call last):\n  File "/srv/app/cart.py", line 1, in total\n    x()\nshop.errors.NoStock: sku 17 is gone',
    ),
    { type: 'shop.errors.NoStock', message: 'sku 17 is gone', culprit: 'app/cart.py total' },
  ],
  'a stack whose type has an unusual suffix': [
    log('request failed\nshop.NotFound: item 6\n\tat shop.Cart.total(Cart.java:7)\n\tat shop.Main.main(Main.java:5)'),
    { type: 'shop.NotFound', message: 'item 6', culprit: 'shop.Cart total' },
  ],
  'a panic of PHP': [
    log(
      'PHP Fatal error:  Uncaught Shop\\NoStock: sku 17 in /srv/a.php:1\nStack trace:\n#0 /srv/src/a.php(7): total()\n#1 {main}',
    ),
    { type: 'Shop\\NoStock', culprit: 'src/a.php total' },
  ],
  'a stack in a JSON body': [
    log(
      JSON.stringify({
        message: 'request failed',
        err: { type: 'NoStock', message: 'sku 17', stack: 'Error: sku 17\n    at total (/srv/app/src/cart.js:1:2)' },
      }),
    ),
    { type: 'NoStock', message: 'sku 17', culprit: 'src/cart.js total' },
  ],
  'a type in a JSON body': [
    log('{"message":"request failed","error.type":"NoStock"}'),
    { type: 'NoStock', message: '{"message":"request failed","error.type":"NoStock"}', stack: '' },
  ],
  'a stack in coloured lines': [
    log(
      '\u001b[31mrequest failed\n\u001b[31mshop.NotFound: item 6\n\u001b[31m\tat shop.Cart.total(Cart.java:7)\u001b[0m',
    ),
    {
      type: 'shop.NotFound',
      stack: 'request failed\nshop.NotFound: item 6\n\tat shop.Cart.total(Cart.java:7)',
      culprit: 'shop.Cart total',
    },
  ],
};
for (const [title, [record, expected]] of Object.entries(logsThatAreErrors))
  test(`${title} is an error`, (t) => {
    const raised = raisedByLogs(record);
    t.is(raised.length, 1);
    t.like(raised[0], {
      ...expected,
      source: 'log',
      service: 'cart',
      release: '1.2',
      environment: 'live',
      handled: null,
    });
    t.regex(raised[0]?.recordId ?? '', /^\d+-0-0-0$/);
  });

test('a span that did not fail is not an error, unless it has an exception', (t) => {
  t.deepEqual(raisedBySpans(span({ failed: false })), []);
  const [raised, ...others] = raisedBySpans(span({ failed: false, exceptions: [['IOError', 'no disk']] }));
  t.deepEqual(others, []);
  t.like(raised, { type: 'IOError', message: 'no disk', isStatusOnly: false, at: '2025-12-31T23:59:59.998000000Z' });
});

test('a failed span without an exception takes its reason from its type, status and operation', (t) => {
  const cases: readonly [SpanFields, [string, string][]][] = [
    [
      { attributes: [text('error.type', 'timeout')], message: 'after 30 s' },
      [
        ['type', 'timeout'],
        ['message', 'after <*>'],
        ['operation', 'server GET <*>'],
      ],
    ],
    [
      { attributes: [text('http.status_code', '503'), text('http.route', '/cart/{id}')] },
      [
        ['type', 'HTTP 503'],
        ['operation', 'server /cart/{id}'],
      ],
    ],
    [
      { attributes: [text('error.type', '503')] },
      [
        ['type', 'HTTP 503'],
        ['operation', 'server GET <*>'],
      ],
    ],
    [
      { attributes: [text('rpc.grpc.status_code', '14')], kind: 3 },
      [
        ['type', 'gRPC 14'],
        ['operation', 'client GET <*>'],
      ],
    ],
    [
      { message: 'no stock' },
      [
        ['message', 'no stock'],
        ['operation', 'server GET <*>'],
      ],
    ],
  ];
  const program = [
    ['service', 'cart'],
    ['project', 'shop'],
  ];
  for (const [fields, components] of cases)
    t.deepEqual(raisedBySpans(span(fields))[0]?.components, [...components, ...program] as [string, string][]);
});

test('an occurrence includes its user, its tags and whether it was handled', (t) => {
  const attributes = [
    text('enduser.id', 'ann'),
    text('http.method', 'GET'),
    text('user_agent.original', 'Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 Edg/120.0'),
  ];
  const recorded = span({ exceptions: [['IOError', 'no disk']], attributes });
  recorded.events[0]?.attributes.push(text('exception.escaped', 'true'));
  t.like(raisedBySpans(recorded)[0], {
    userId: 'ann',
    handled: false,
    tags: { 'http.request.method': 'GET', 'user_agent.name': 'Edge', 'host.name': 'h1', 'span.name': 'GET /cart/17' },
  });
});

test('one exception in all spans that it passed through, and in a log, is one occurrence', (t) => {
  const stack =
    'Traceback (most recent call last):\n  File "/srv/app/cart.py", line 1, in total\n    x()\nKeyError: 17';
  const longer = stack.replace('  File', '  File "/srv/app/web.py", line 9, in handle\n    total()\n  File');
  const raised = [
    ...raisedBySpans(
      span({ id: 3, parent: 2, exceptions: [['KeyError', '17', stack]] }),
      span({ id: 2, parent: 1, exceptions: [['KeyError', '17', longer]] }),
    ),
    ...raisedByLogs(
      log('failed', {
        spanId: 3,
        attributes: [
          text('exception.type', 'KeyError'),
          text('exception.message', '17'),
          text('exception.stacktrace', stack),
        ],
      }),
    ),
    ...raisedBySpans(span({ id: 1 })),
  ];
  t.deepEqual(
    counted(raised).map(({ spanId }) => spanId),
    ['0000000000000003'],
  );
});

test('an exception recorded several times in one place counts several times', (t) => {
  const twice = raisedBySpans(
    span({
      exceptions: [
        ['IOError', 'no disk'],
        ['IOError', 'no disk'],
      ],
    }),
  );
  t.is(counted(twice).length, 2);
  t.is(
    counted([
      ...twice,
      ...raisedByLogs(
        ...Array.from({ length: 3 }, () =>
          log('x', {
            spanId: 1,
            attributes: [text('exception.type', 'IOError'), text('exception.message', 'no disk')],
          }),
        ),
      ),
    ]).length,
    3,
  );
  t.is(
    counted(raisedByLogs(log('x', { spanId: 1 }), log('x', { spanId: 1 }), log('y', { spanId: 1 }), log('x'), log('x')))
      .length,
    5,
  );
});

test('records with the same text further apart are several errors', (t) => {
  const at = (atMs: number) =>
    raisedBySpans(span({ id: 1_000_000 + atMs - firstMs, atMs, exceptions: [['IOError', 'no disk']] }));
  t.is(
    counted(
      [...at(firstMs - 30_000), ...at(firstMs - 25_000), ...at(firstMs - 1_000)].map((each) => ({
        ...each,
        spanId: `${each.timeMs}`,
      })),
    ).length,
    2,
  );
});

test('among failed spans, only the span of the origin of the failure counts', (t) => {
  const root = span({ id: 1 });
  const call = span({ id: 2, parent: 1, kind: 3 });
  const called = span({ id: 3, parent: 2 });
  const alone = span({ id: 9 });
  for (const records of [
    [root, call, called, alone],
    [alone, called, call, root],
    [call, root, alone, called],
  ])
    t.deepEqual(
      counted(raisedBySpans(...records))
        .map(({ spanId }) => spanId)
        .sort(),
      ['0000000000000003', '0000000000000009'],
    );
  const thrown = span({ id: 3, parent: 2, exceptions: [['IOError', 'no disk']] });
  t.deepEqual(
    counted(raisedBySpans(root, call, thrown)).map(({ type }) => type),
    ['IOError'],
  );
  t.deepEqual(
    counted([...raisedBySpans(root), ...raisedByLogs(log('lost', { spanId: 1 }))]).map(({ message }) => message),
    ['lost'],
  );
});

test('an error waits 8 seconds for related records, and takes missing fields from them', (t) => {
  const run = new TaskRun(errorOccurrences);
  const attributes = [text('exception.type', 'IOError'), text('exception.message', 'no disk')];
  run.values(raisedByLogs(log('failed', { spanId: 1, attributes })));
  run.values(
    raisedBySpans(
      span({ exceptions: [['IOError', 'no disk']], attributes: [text('user.id', 'ann'), text('http.route', '/cart')] }),
    ),
    { atMs: firstMs + 7_000 },
  );
  run.tick(firstMs + 7_500);
  t.is(run.emitted().length, 0);
  run.tick(firstMs + 9_000);
  const [occurrence, ...others] = run.emitted<ErrorOccurrence>();
  t.deepEqual(others, []);
  t.like(occurrence, { source: 'log', userId: 'ann', handled: null });
  t.like(occurrence?.tags, { 'http.route': '/cart', 'host.name': 'h1' });
  run.values(raisedBySpans(span({ id: 7, exceptions: [['IOError', 'no disk']] })));
  run.tick(firstMs + 60_000);
  t.is(run.emitted().length, 1);
});

test('an exception recorded very often by one span counts as often', (t) => {
  const run = new TaskRun(errorOccurrences);
  const [raised] = raisedBySpans(span({ exceptions: [['IOError', 'no disk']] }));
  for (let round = 0; round < 50; round++) run.values(Array.from({ length: 100 }, () => raised));
  for (let at = 2; at < 200; at++) run.values([{ ...raised, spanId: `${at}` }]);
  run.tick(firstMs + 60_000);
  t.is(run.emitted().length, 5_000);
});

test('if too many errors wait, errors count at once', (t) => {
  const run = new TaskRun(errorOccurrences);
  const [raised] = raisedBySpans(span({ exceptions: [['IOError', 'no disk', 'x'.repeat(16_000)]] }));
  const many = Array.from({ length: 2_000 }, (_, at) => ({ ...raised, identity: `IOError/${at}` }));
  for (let from = 0; from < many.length; from += 50) run.values(many.slice(from, from + 50));
  t.true(run.emitted().length > 1_000 && run.emitted().length < 2_000, `${run.emitted().length}`);
  run.tick(firstMs + 60_000);
  t.is(run.emitted().length, 2_000);
});

test('remembered errors are saved by their declared schema, restored, and sized by it', (t) => {
  const [raised] = raisedByLogs(log('order 17 is lost', { spanId: 1 }));
  const parts: readonly (readonly (readonly [string, unknown])[])[] = [
    [
      ['exception a cart /1', { lastMs: firstMs, emitted: 1, places: { 'span 01': 2, 'log "2"': 1 } }],
      ['exception b cart /1', { lastMs: firstMs + 0.5, emitted: 0, places: {} }],
    ],
    [
      ['span a 01', 1],
      ['span b 01', 1],
    ],
    [['exception a cart /1', { dueMs: firstMs + 9_000, held: [raised, raised] }]],
  ];
  const texts = parts.map((part) => Buffer.from(JSON.stringify(part)));
  const lengths = Buffer.alloc(4 * texts.length);
  for (const [index, { length }] of texts.entries()) lengths.writeUInt32LE(length, 4 * index);
  const saved = Buffer.concat([lengths, ...texts]);
  const { open, save, size } = errorOccurrences.state;
  const state = open(new Uint8Array(saved));
  t.deepEqual(Buffer.concat(toChunks(save(state))), saved);
  const weights = parts.flat().map(([key, value]) => 64 + 2 * key.length + estimateBytes(value));
  t.is(
    size(state).bytes,
    weights.reduce((sum, weight) => sum + weight, 0),
  );
});

test('a damaged error is rejected by its schema', (t) => {
  const [raised] = raisedBySpans(span({ exceptions: [['IOError', 'no disk']] }));
  const damages: readonly object[] = [
    ...Object.keys(raised ?? {}).flatMap((name) => [{ [name]: undefined }, { [name]: [] }, { [name]: 1e300 }]),
    ...[{ other: 1 }, { tags: { other: '1' } }, { tags: { 'http.route': 1 } }, { source: 'metric' }, { timeMs: '1' }],
    ...[{ components: [['type']] }, { components: [['type', 'a', 'b']] }, { components: [['type', 1]] }],
  ];
  for (const damage of [{}, ...damages]) {
    const [plain, faster] = [RaisedError, compileOnce(RaisedError)].map((schema) =>
      schema.safeParse({ ...raised, ...damage }),
    );
    t.deepEqual(faster?.error?.issues, plain?.error?.issues);
    t.deepEqual(JSON.stringify(faster?.data), JSON.stringify(plain?.data));
  }
  t.false(compileOnce(RaisedError).safeParse({ ...raised, other: 1 }).success);
});
