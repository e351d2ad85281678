/** Questions in plain language over stored telemetry: the query, its explanation, its result or why there is none. */
import test from 'ava';
import {
  landIn,
  logsRequest,
  messageOf,
  metricsRequest,
  receivedAtMs,
  text,
  tracesRequest,
} from '../cases/sink-tables.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = receivedAtMs + 60_000;
const minuteNs = 60_000_000_000n;
const atNs = (minutesAgo: number): string => String(BigInt(receivedAtMs) * 1_000_000n - BigInt(minutesAgo) * minuteNs);
const number = (key: string, value: number) => ({ key, value: { intValue: String(value) } });
const resource = (service: string) => ({
  attributes: [text('service.name', service), text('host.name', `${service}-1`)],
});

/** 40 log records of lending (8 errors), 5 of catalog; 20 requests of lending (4 failed), each with a query. */
const land = async (tenantId: string): Promise<void> => {
  const into = landIn(harness.columns);
  const logs = (service: string, count: number) => ({
    resource: resource(service),
    scopeLogs: [
      {
        logRecords: Array.from({ length: count }, (_, index) => ({
          timeUnixNano: atNs(index),
          severityNumber: index % 5 === 0 ? 17 : 9,
          body: { stringValue: index % 5 === 0 ? 'book is out on loan' : `loan ${index}` },
          attributes: [text('shelf', index % 2 === 0 ? 'poetry' : 'history'), text('reader.id', `r-${index}`)],
        })),
      },
    ],
  });
  const spans = Array.from({ length: 20 }, (_, index) => [
    {
      traceId: Buffer.alloc(16, index + 1),
      spanId: Buffer.alloc(8, index + 1),
      name: 'GET /loans',
      kind: 2,
      startTimeUnixNano: atNs(index),
      endTimeUnixNano: String(BigInt(atNs(index)) + 100_000_000n * BigInt(index + 1)),
      status: index % 5 === 0 ? { code: 2 } : {},
      attributes: [
        text('http.route', index < 15 ? '/loans' : '/books'),
        number('http.response.status_code', index % 5 === 0 ? 503 : 200),
      ],
    },
    {
      traceId: Buffer.alloc(16, index + 1),
      spanId: Buffer.alloc(8, index + 101),
      name: 'SELECT',
      kind: 3,
      startTimeUnixNano: atNs(index),
      endTimeUnixNano: String(BigInt(atNs(index)) + 5_000_000_000n),
      attributes: [text('db.system.name', 'sqlite')],
    },
  ]).flat();
  const point = (minutesAgo: number, value: number, indexRevision: string) => ({
    timeUnixNano: atNs(minutesAgo),
    startTimeUnixNano: atNs(500),
    asInt: String(value),
    attributes: [text('shelf', indexRevision)],
  });
  const metrics = [
    { name: 'books.waiting', unit: '{book}', gauge: { dataPoints: [point(30, 4, 'poetry'), point(30, 8, 'history')] } },
    {
      name: 'loans.made',
      unit: '{loan}',
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [0, 10, 20, 30, 40].map((ago) => point(ago, 100 - ago, 'poetry')),
      },
    },
  ];
  const message = (body: Uint8Array, signal: 'logs' | 'traces' | 'metrics') =>
    into([messageOf([body], { tenantId, signal, projectId: 'p1' })], { sink: signal });
  await message(logsRequest({ resourceLogs: [logs('lending', 40), logs('catalog', 5)] }), 'logs');
  await message(
    tracesRequest({ resourceSpans: [{ resource: resource('lending'), scopeSpans: [{ spans }] }] }),
    'traces',
  );
  await message(
    metricsRequest({ resourceMetrics: [{ resource: resource('lending'), scopeMetrics: [{ metrics }] }] }),
    'metrics',
  );
};

test.before(async () => {
  harness = await startHarness({ now: () => nowMs });
  await land('a');
});
test.after.always(() => harness?.close());

const askQuestion = (question: string, more: object = {}): Promise<Answer> =>
  harness.request('POST', '/api/ai/query', { as: 'viewer', body: { question, ...more } });

const figures: readonly (readonly [question: string, rows: readonly unknown[]])[] = [
  ['How many error logs did lending write in the last hour?', [[8]]],
  [
    'number of logs by service',
    [
      ['lending', 40],
      ['catalog', 5],
    ],
  ],
  ['top 1 shelf by logs', [['poetry', 23]]],
  ['how many requests failed', [[4]]],
  [
    'how many requests by route',
    [
      ['/loans', 15],
      ['/books', 5],
    ],
  ],
  [
    'requests per route with status 503',
    [
      ['/loans', 3],
      ['/books', 1],
    ],
  ],
  ['maximum latency of lending', [[2_000_000_000]]],
  ['count of requests slower than 1 second', [[10]]],
  ['error rate of lending', [[20]]],
  ['how many different readers in logs', [[40]]],
  ['median duration of spans where db.system.name is sqlite', [[5_000_000_000]]],
  [
    'books waiting by shelf',
    [
      ['history', 8],
      ['poetry', 4],
    ],
  ],
  ['loans made', [[40]]],
  ['loans made on host lending-1', [[40]]],
  [
    'logs containing "out on loan" by service, count',
    [
      ['lending', 8],
      ['catalog', 1],
    ],
  ],
];
for (const [question, rows] of figures)
  test(`"${question}" is answered`, async (t) => {
    const { status, body } = await askQuestion(question);
    t.is(status, 200, JSON.stringify(body));
    t.deepEqual(body.answer?.result.rows, rows, JSON.stringify(body.refusal ?? body.answer ?? body.alternatives));
    t.is(body.answer.emptyReason, null);
  });

test('a response has the query, its range, its explanation and its matched words', async (t) => {
  const { body } = await askQuestion('Error logs of lending per minute since 10am', { timeZone: 'Europe/Zurich' });
  const { result, ...answerFields } = body.answer;
  t.deepEqual(answerFields, {
    query: {
      kind: 'aggregate',
      signal: 'logs',
      search: 'severity:>=error service:lending',
      measures: [{ function: 'count' }],
      groupBy: [],
      limit: 100,
    },
    from: '2026-03-01T09:00:00.000000000Z',
    to: '2026-03-01T10:01:00.123000000Z',
    stepMs: 60_000,
    sentence:
      'Number of log records where severity is error or above and service is lending, in steps of 1 minute, from 2026-03-01 10:00 to 2026-03-01 11:01:00 (Europe/Zurich).',
    words: [
      { text: 'Error', mappedTo: 'severity:>=error' },
      { text: 'logs', mappedTo: 'log records' },
      { text: 'of', mappedTo: null },
      { text: 'lending', mappedTo: 'service:lending' },
      { text: 'per minute', mappedTo: 'steps of 1 minute' },
      { text: 'since 10am', mappedTo: 'range' },
    ],
    deployment: null,
    compared: null,
    comparedResult: null,
    emptyReason: null,
  });
  t.is(result.form, 'series');
  t.deepEqual([body.alternatives, body.investigation, body.refusal], [[], null, null]);
});

test('a comparison returns the results of both ranges', async (t) => {
  const { body } = await askQuestion('number of logs of lending today compared with yesterday');
  t.deepEqual(body.answer.compared, {
    from: '2026-02-28T00:00:00.000000000Z',
    to: '2026-02-28T23:59:59.999999999Z',
  });
  t.is(body.answer.comparedResult.from, body.answer.compared.from);
  t.is(body.answer.comparedResult.rows.length, 1);
});

test('a question continues the previous ones', async (t) => {
  const { body } = await askQuestion('only errors', { previousQuestions: ['number of logs', 'and for lending?'] });
  t.is(body.answer.query.search, 'service:lending severity:>=error');
});

test('a range that is not retained is refused with the reason', async (t) => {
  const { status, body } = await askQuestion('errors of lending in the last 4000 days');
  t.is(status, 200);
  t.is(body.refusal.code, 'invalid');
  t.regex(body.refusal.reason, /retain|retention|days/);
});

test('two interpretations are alternatives, each with its query and explanation', async (t) => {
  const { body } = await askQuestion('errors of lending');
  t.is(body.answer, null);
  t.deepEqual(
    body.alternatives.map(({ query }: { query: { signal: string } }) => query.signal),
    ['logs', 'traces'],
  );
  t.true(body.alternatives.every(({ sentence }: { sentence: string }) => sentence.startsWith('The 100 newest')));
});

test('unknown names are refused with similar names', async (t) => {
  const { body } = await askQuestion('logs of service lendingdesk');
  t.is(body.refusal.code, 'unknown-name');
  t.regex(body.refusal.reason, /"lendingdesk"/);
  const other = await askQuestion('loans lost');
  t.is(other.body.refusal.code, 'unknown-name');
});

const fruitless: readonly (readonly [question: string, reason: RegExp])[] = [
  ['how many error logs of lending with reader.id r-1', /"severity is error or above" and "reader.id is r-1" exclude/],
  ['requests slower than 50 s', /"duration is above 50 s" excludes all/],
  ['number of logs of lending on 20 February', /no data arrived in this range/],
];
for (const [question, reason] of fruitless)
  test(`"${question}" finds nothing, and the response has the reason`, async (t) => {
    const { status, body } = await askQuestion(question);
    t.is(status, 200, JSON.stringify(body));
    t.regex(body.answer?.emptyReason ?? JSON.stringify(body), reason);
  });

test('PromQL and searches are run unchanged', async (t) => {
  const promql = await askQuestion('sum(loans_made_total)');
  t.is(promql.body.answer.query.kind, 'promql');
  const search = await askQuestion('service:catalog severity:error');
  t.is(search.body.answer.result.rows.length, 1);
});

test('a plan without the entitlement gets an error that names it', async (t) => {
  const token = await harness.signIn('viewer@b.example');
  const answer = await harness.request('POST', '/api/ai/query', { as: `token ${token}`, body: { question: 'logs' } });
  t.is(answer.body.error, 'UPGRADE_REQUIRED');
});

const bad: readonly (readonly [title: string, body: object, path: string])[] = [
  ['no question', {}, 'question'],
  ['an empty question', { question: '' }, 'question'],
  ['a question that is too long', { question: 'a'.repeat(20_000) }, 'question'],
  ['a zone that is none', { question: 'logs', timeZone: 'Middle/Earth' }, 'timeZone'],
  ['a range that ends before it begins', { question: 'logs', from: 'now', to: 'now-1h' }, 'from'],
];
for (const [title, body, path] of bad)
  test(`${title} is refused with its path`, async (t) => {
    const answer = await harness.request('POST', '/api/ai/query', { as: 'viewer', body });
    t.is(answer.status, 400, JSON.stringify(answer.body));
    t.is(answer.body.details[0].path, path, JSON.stringify(answer.body));
  });
