/** Assertions of checks: which pass on a response, which fail and why, and which cannot be evaluated. */
import test from 'ava';
import {
  Assertion,
  findAssertionProblems,
  judgeAssertions,
  type Observation,
} from '../../../subjects/synthetics/assertions.ts';
import { findJsonPathProblem } from '../../../subjects/synthetics/json-path.ts';
import { readJsonValues } from '../../../subjects/synthetics/response-documents.ts';

const seen: Observation = {
  status: 200,
  size: 48,
  durationMs: 120,
  redirects: 1,
  protocol: 'HTTP/1.1',
  code: 'NOERROR',
  headers: { 'content-type': ['application/json'], 'set-cookie': ['a=1', 'b=2'] },
  body: '{"state":"ok","queues":[{"name":"in","depth":3},{"name":"out","depth":70}],"note":"one\\ntwo"}',
  phases: { lookup: 5, connect: 10, tls: 25, send: 1, wait: 70, receive: 9 },
  certificate: {
    target: 'shop.example:443',
    expiresAtMs: 0,
    daysLeft: 12,
    issuer: 'CN=Test CA',
    commonName: 'shop.example',
    names: ['shop.example', 'www.shop.example'],
  },
  records: ['192.0.2.1', '192.0.2.2'],
};

const outcomeOf = (fields: object, observation: Observation = seen): string =>
  judgeAssertions([Assertion.parse(fields)], observation).outcome;

test('an assertion passes or fails on the data of a step', (t) => {
  const table: readonly (readonly [
    source: string,
    name: string | undefined,
    operator: string,
    value?: string | number | undefined,
    isWrong?: 'wrong',
  ])[] = [
    ['status', undefined, 'is', 200],
    ['status', undefined, 'is', '200'],
    ['status', undefined, 'isNot', 200, 'wrong'],
    ['status', undefined, 'lt', 400],
    ['status', undefined, 'gte', 201, 'wrong'],
    ['status', undefined, 'matches', '^2'],
    ['header', 'Content-Type', 'contains', 'json'],
    ['header', 'set-cookie', 'is', 'b=2'],
    ['header', 'set-cookie', 'notContains', 'b', 'wrong'],
    ['header', 'x-none', 'exists', undefined, 'wrong'],
    ['header', 'x-none', 'absent'],
    ['header', 'constructor', 'absent'],
    ['body', undefined, 'contains', '"ok"'],
    ['body', undefined, 'matches', 'state":"(ok|fine)"'],
    ['body', undefined, 'notMatches', 'error|ok', 'wrong'],
    ['json', '$.state', 'is', 'ok'],
    ['json', '$.queues[*].depth', 'gt', 50],
    ['json', '$.queues[?@.name=="in"].depth', 'gt', 50, 'wrong'],
    ['json', '$.missing', 'gt', 0, 'wrong'],
    ['json', '$.queues[0]', 'contains', '"depth":3'],
    ['size', undefined, 'lte', 48],
    ['duration', undefined, 'lt', 120, 'wrong'],
    ['phase', 'wait', 'lt', 100],
    ['phase', 'tls', 'gt', 25, 'wrong'],
    ['redirects', undefined, 'is', 1],
    ['protocol', undefined, 'is', 'HTTP/1.1'],
    ['certificate', 'daysLeft', 'gte', 14, 'wrong'],
    ['certificate', 'issuer', 'contains', 'Test CA'],
    ['certificate', 'name', 'is', 'www.shop.example'],
    ['record', undefined, 'is', '192.0.2.2'],
    ['record', undefined, 'is', '192.0.2.9', 'wrong'],
    ['code', undefined, 'is', 'NOERROR'],
  ];
  for (const [source, name, operator, value, isWrong] of table) {
    const assertion = Assertion.parse({ source, name, operator, value });
    t.deepEqual(findAssertionProblems(assertion), []);
    t.is(outcomeOf(assertion), isWrong === undefined ? 'passed' : 'failed', `${source} ${name} ${operator} ${value}`);
  }
});

test('missing data passes no comparison', (t) => {
  t.is(outcomeOf({ source: 'certificate', name: 'daysLeft', operator: 'gte', value: 0 }, {}), 'failed');
  t.is(outcomeOf({ source: 'duration', operator: 'lt', value: 1 }, {}), 'failed');
  t.is(outcomeOf({ source: 'json', name: '$', operator: 'exists' }, { body: 'no JSON' }), 'failed');
  t.is(
    outcomeOf(
      { source: 'json', name: '$..a', operator: 'exists' },
      { body: `${'['.repeat(20_000)}${']'.repeat(20_000)}` },
    ),
    'failed',
  );
});

test('the outcome of a response is its worst assertion, and each assertion states the expected value', (t) => {
  const slow = { source: 'duration', operator: 'lt', value: 100, level: 'degrade' };
  const status = { source: 'status', operator: 'is', value: 201 };
  const header = { source: 'header', name: 'etag', operator: 'exists' };
  const judged = (...assertions: readonly object[]) =>
    judgeAssertions(
      assertions.map((one) => Assertion.parse(one)),
      seen,
    );
  t.deepEqual(judged(), { outcome: 'passed', messages: [], results: [] });
  t.like(judged(slow), { outcome: 'degraded', messages: ['duration is 120, expected: lt 100'] });
  t.like(judged(slow, status, header), {
    outcome: 'failed',
    messages: [
      'duration is 120, expected: lt 100',
      'status is 200, expected: is 201',
      'header etag is absent, expected: exists',
    ],
  });
});

test('each assertion has a result with the observed value, also if it passes', (t) => {
  const assertions = [
    { source: 'status', operator: 'is', value: 200 },
    { source: 'duration', operator: 'lt', value: 100, level: 'degrade' },
    { source: 'header', name: 'etag', operator: 'exists' },
    { source: 'json', name: '$.queues[*].depth', operator: 'gt', value: 50 },
    { source: 'body', operator: 'contains', value: 'x'.repeat(300) },
  ].map((assertion) => Assertion.parse(assertion));
  const body = `{"queues":[{"depth":3},{"depth":70}],"text":"${'y'.repeat(300)}"}`;
  const { results } = judgeAssertions(assertions, { ...seen, body });
  t.deepEqual(results.slice(0, 4), [
    { source: 'status', operator: 'is', value: '200', outcome: 'passed', found: '200' },
    { source: 'duration', operator: 'lt', value: '100', outcome: 'degraded', found: '120' },
    { source: 'header', name: 'etag', operator: 'exists', outcome: 'failed', found: '' },
    { source: 'json', name: '$.queues[*].depth', operator: 'gt', value: '50', outcome: 'passed', found: '3, 70' },
  ]);
  t.is(results[4]?.outcome, 'failed');
  t.is(results[4]?.found.length, 201);
});

test('an assertion that cannot be evaluated is rejected with its path', (t) => {
  const table: readonly (readonly [fields: object, path: string, message: RegExp])[] = [
    [{ source: 'status', name: 'x', operator: 'is', value: 200 }, 'name', /must not be set/],
    [{ source: 'status', operator: 'is' }, 'value', /required/],
    [{ source: 'status', operator: 'is', value: 'two hundred' }, 'value', /number/],
    [{ source: 'status', operator: 'lt', value: '' }, 'value', /number/],
    [{ source: 'header', operator: 'exists' }, 'name', /required/],
    [{ source: 'header', name: 'a', operator: 'exists', value: 1 }, 'value', /must not be set/],
    [{ source: 'body', operator: 'matches', value: '(a' }, 'value', /RE2.*missing closing/],
    [{ source: 'json', name: '$[', operator: 'exists' }, 'name', /not a valid JSONPath/],
    [{ source: 'json', name: '$[?@.a == $.b]', operator: 'exists' }, 'name', /`\$` in a filter/],
    [{ source: 'json', name: '$..a..b..c', operator: 'exists' }, 'name', /at most 2 `\.\.`/],
    [{ source: 'phase', name: 'nap', operator: 'lt', value: 1 }, 'name', /one of lookup, connect/],
    [{ source: 'certificate', name: 'daysLeft', operator: 'is', value: 'many' }, 'value', /number/],
  ];
  for (const [fields, path, message] of table) {
    const [problem, ...others] = findAssertionProblems(Assertion.parse(fields));
    t.is(problem?.path, path);
    t.regex(problem?.message ?? '', message);
    t.deepEqual(others, []);
  }
});

test('quoted parts of a JSONPath are not syntax', (t) => {
  for (const name of ["$['$..a..b..c']", '$[?@.price == "$ \\" $"]', '$..a..b'])
    t.deepEqual(findAssertionProblems(Assertion.parse({ source: 'json', name, operator: 'exists' })), [], name);
});

test('JSONPath filters use RE2, in linear time', (t) => {
  const found = (path: string, document: unknown): readonly unknown[] => {
    t.is(findJsonPathProblem(path), undefined);
    return readJsonValues(path, { body: JSON.stringify(document) });
  };
  t.deepEqual(found("$[?match(@, 'a.c')]", ['abc', 'xabc', 'a\rc', 'a\nc', 'a\u2028c', 5]), ['abc', 'a\u2028c']);
  t.deepEqual(found("$[?search(@, 'b.')]", ['abc', 'ab', 'b\n']), ['abc']);
  t.deepEqual(found("$[?search(@, 'a[.]c')]", ['abc', 'a.c']), ['a.c']);
  t.deepEqual(found("$[?match(@, '(')]", ['(']), []);
  t.deepEqual(found("$[?match(@, '(a|aa)+')]", [`${'a'.repeat(20_000)}b`]), []);
});
