/** Traces through the API over spans sent as OTLP, compared with a loop over the same spans. */
import test from 'ava';
import { readTrace } from '../../queries/traces/trace.ts';
import { seeded } from '../cases/random.ts';
import { measureLongestIterationMs } from '../cpu-time.ts';
import { selectRunPart } from '../parts.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Landed, landedIn, type SentSpan } from './landed-spans.ts';

// The tests run serially: concurrent requests could time out on a busy machine.
let harness: Harness;
let landed: Landed;
const nowMs = Date.now();
const ago = (seconds: number): bigint => BigInt(nowMs) * 1_000_000n - BigInt(Math.round(seconds * 1e9));
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const ms = 1_000_000;

const random = seeded(12);
const services = ['cart', 'shop', 'web'];
/** Some traces take a moment and some hours; several begin in the same nanosecond. */
const listed: SentSpan[] = Array.from({ length: 150 }, (_, index) => index + 1).flatMap((number) => {
  const start = 60 * random(290) + 60;
  const isLong = random(5) === 0;
  return Array.from({ length: 1 + random(5) }, (_, at) => ({
    trace: hex(number, 32),
    span: hex(number * 100 + at, 16),
    service: services[random(3)] as string,
    start: ago(at === 0 ? start : Math.max(1, start - random(isLong ? 12_000 : 20))),
    duration: random(3_000) * ms,
    name: `step ${random(4)}`,
    status: random(12) === 0 ? 2 : random(2),
    attributes: { size: random(100) },
  }));
});

const canary = 'canary-of-b';
/** Lists include only the first project. */
const other = { project: 'p2' };
test.before(async () => {
  harness = await startHarness({ projects: ['p1'] });
  landed = landedIn(harness);
  await landed.spans(listed.filter((_, index) => index % 3 !== 0));
  await landed.spans(listed.filter((_, index) => index % 3 === 0));
  // The other organization has spans with the same trace IDs.
  await landed.spans(
    listed.map((span) => ({ ...span, service: canary, name: canary, attributes: { canary } })),
    { tenant: 'b' },
  );
});
test.after.always(() => harness?.close());

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  return { status, body };
};

interface Case {
  readonly query: string;
  readonly from: number;
  readonly to: number;
  readonly span?: (span: SentSpan) => boolean;
  readonly trace?: (spans: readonly SentSpan[], lasted: number) => boolean;
}

const end = ({ start, duration }: SentSpan): bigint => start + BigInt(duration);
const inOrder = (one: bigint, two: bigint): number => Number(one - two);
const earliest = (spans: readonly SentSpan[]): bigint => spans.map(({ start }) => start).sort(inOrder)[0] ?? 0n;
const latest = (spans: readonly SentSpan[]): bigint => spans.map(end).sort(inOrder).at(-1) ?? 0n;

/** Expected trace IDs, newest first. */
const expected = ({ from, to, span = () => true, trace = () => true }: Case): string[] => {
  const within = listed.filter(({ start }) => start >= ago(from) && start <= ago(to));
  const traces = Map.groupBy(within, (each) => each.trace);
  const found = [...traces].flatMap(([id, spans]) => {
    const start = earliest(spans);
    return spans.some(span) && trace(spans, Number(latest(spans) - start)) ? [{ id, start }] : [];
  });
  return found
    .sort((one, other) => (one.start === other.start ? (one.id < other.id ? 1 : -1) : one.start < other.start ? 1 : -1))
    .map(({ id }) => id);
};

const hours = 3_600;
const cases: readonly Case[] = [
  { query: '', from: 6 * hours, to: 0 },
  { query: '', from: 3 * hours, to: 2 * hours },
  { query: '', from: 1000, to: 0 },
  { query: 'service=cart', from: 6 * hours, to: 0, span: ({ service }) => service === 'cart' },
  { query: 'search=size:>95', from: 6 * hours, to: 0, span: ({ attributes }) => Number(attributes?.['size']) > 95 },
  { query: 'search=nowhere', from: 6 * hours, to: 0, span: () => false },
  { query: 'minDuration=1h', from: 6 * hours, to: 0, trace: (_, lasted) => lasted >= hours * 1e9 },
  { query: 'maxDuration=1500ms', from: 6 * hours, to: 0, trace: (_, lasted) => lasted <= 1.5e9 },
  { query: 'status=error', from: 6 * hours, to: 0, trace: (spans) => spans.some(({ status }) => status === 2) },
  { query: 'status=ok', from: 6 * hours, to: hours, trace: (spans) => spans.every(({ status }) => status !== 2) },
  { query: 'status=unset', from: 6 * hours, to: 0, trace: (spans) => spans.every(({ status }) => status === 0) },
  {
    query: 'service=shop&search=name:"step 1"&minDuration=5s&status=error',
    from: 6 * hours,
    to: 0,
    span: ({ service, name }) => service === 'shop' && name === 'step 1',
    trace: (spans, lasted) => lasted >= 5e9 && spans.some(({ status }) => status === 2),
  },
];

for (const each of cases)
  for (const limit of [1000, 13])
    test.serial(
      `traces from ${each.from} to ${each.to} seconds ago, ${each.query || 'all of them'}, ${limit} per page`,
      async (t) => {
        const path = `/api/traces?projectId=p1&from=${nowMs - each.from * 1000}&to=${nowMs - each.to * 1000}&${each.query}&limit=${limit}`;
        const seen: unknown[] = [];
        let cursor: string | null = '';
        do {
          const { status, body } = await get(`${path}&cursor=${cursor}`);
          t.is(status, 200);
          t.true(body.items.length <= limit);
          seen.push(...body.items.map(({ traceId }: { traceId: string }) => traceId));
          cursor = body.nextCursor;
          t.false(JSON.stringify(body).includes(canary));
        } while (cursor !== null && seen.length < 1_000);
        t.deepEqual(seen, expected(each));
      },
    );

test.serial('a trace in the list is the whole trace, including the part outside the range', async (t) => {
  const { body } = await get('/api/traces?projectId=p1&from=now-6h&limit=1000');
  for (const { traceId, startTime, durationNs, spanCount, errorCount, services: names } of body.items) {
    const spans = listed.filter(({ trace }) => trace === traceId);
    const start = earliest(spans);
    t.deepEqual(
      { startTime: Date.parse(startTime), durationNs, spanCount, errorCount, names },
      {
        startTime: Number(start / 1_000_000n),
        durationNs: Number(latest(spans) - start),
        spanCount: spans.length,
        errorCount: spans.filter(({ status }) => status === 2).length,
        names: [...new Set(spans.map(({ service }) => service))].sort(),
      },
    );
  }
});

test.serial('a trace has its summary, its root spans, its critical path, and the position of each span', async (t) => {
  const trace = hex(0xa1, 32);
  const at = (offset: number): bigint => ago(30) + BigInt(offset);
  const span = (
    id: number,
    parent: number | undefined,
    from: number,
    duration: number,
    more: Partial<SentSpan> = {},
  ) => ({
    trace,
    span: hex(id, 16),
    start: at(from),
    duration,
    ...(parent === undefined ? {} : { parent: hex(parent, 16) }),
    service: 'web',
    name: `span ${id}`,
    ...more,
  });
  await landed.spans(
    [
      span(1, undefined, 0, 1000, { kind: 2 }),
      span(2, 1, 100, 300, { kind: 3 }),
      // Its clock is 5 microseconds ahead.
      span(3, 2, 5_000, 200, { kind: 2, service: 'cart', status: 2 }),
      span(4, 1, 500, 900),
      span(5, 77, 200, 100, { service: 'lost' }),
      span(6, 1, 600, 0, { links: [{ trace, span: hex(5, 16) }] }),
    ],
    other,
  );
  const { body } = await get(`/api/traces/${trace}`);
  t.deepEqual(
    body.criticalPath.segments.map((each: { spanId: string; startTime: string; durationNs: number }) => [
      Number.parseInt(each.spanId, 16),
      Number(BigInt(Date.parse(each.startTime)) * 1_000_000n + BigInt(each.startTime.slice(23, 29)) - at(0)),
      each.durationNs,
    ]),
    [
      [1, 0, 100],
      [2, 100, 50],
      [3, 150, 200],
      [2, 350, 50],
      [1, 400, 600],
    ],
  );
  t.is(body.criticalPath.durationNs, 1000);
  t.is(body.criticalPath.rootSpanId, hex(1, 16));
  t.deepEqual(
    body.spans.map((each: Record<string, unknown>) => [
      each['name'],
      each['selfTimeNs'],
      each['criticalPathNs'],
      each['clockShiftNs'],
      each['warnings'],
    ]),
    [
      ['span 1', 200, 700, 0, []],
      ['span 2', 100, 100, 0, []],
      ['span 5', 100, 0, 0, ['missing-parent']],
      ['span 4', 900, 0, 0, ['outlives-parent']],
      ['span 6', 0, 0, 0, []],
      ['span 3', 200, 200, -4850, ['clock-skew']],
    ],
  );
  t.deepEqual(
    body.roots.map(({ name, parentSpanId }: Record<string, unknown>) => [name, parentSpanId]),
    [
      ['span 1', null],
      ['span 5', hex(77, 16)],
    ],
  );
  const { spanCount, errorCount, missingParentCount, rootCount, durationNs, warningCounts, partial, nextCursor } = body;
  t.deepEqual(
    { spanCount, errorCount, missingParentCount, rootCount, durationNs, partial, nextCursor },
    {
      spanCount: 6,
      errorCount: 1,
      missingParentCount: 1,
      rootCount: 2,
      durationNs: 1_400,
      partial: [],
      nextCursor: null,
    },
  );
  t.deepEqual(warningCounts, { 'missing-parent': 1, 'outlives-parent': 1, 'clock-skew': 1 });
  const list = await get('/api/traces?scope=account&search=service:lost&limit=1000');
  const listedTrace = list.body.items.find(({ traceId }: { traceId: string }) => traceId === trace);
  t.like(listedTrace, { durationNs, startTime: body.startTime }, 'the list has the same times');
  t.deepEqual(body.services, [
    { service: 'web', spanCount: 4, errorCount: 0, selfTimeNs: 1200, criticalPathNs: 800 },
    { service: 'cart', spanCount: 1, errorCount: 1, selfTimeNs: 200, criticalPathNs: 200 },
    { service: 'lost', spanCount: 1, errorCount: 0, selfTimeNs: 100, criticalPathNs: 0 },
  ]);
});

test.serial('filters by duration use the duration that the list and the trace show, whatever the clocks', async (t) => {
  const skewed = (id: number, aheadMs: number): SentSpan[] => {
    const trace = hex(id, 32);
    const span = (at: number, more: Pick<SentSpan, 'start' | 'duration'> & Partial<SentSpan>): SentSpan => ({
      trace,
      span: hex(at, 16),
      name: 'skewed',
      ...more,
    });
    const start = ago(40);
    return [
      span(1, { service: 'web', start, duration: 100 * ms, kind: 2 }),
      span(2, { parent: hex(1, 16), service: 'web', start: start + 20n * 1_000_000n, duration: 60 * ms, kind: 3 }),
      span(3, {
        parent: hex(2, 16),
        service: 'cart',
        start: start + BigInt(30 + aheadMs) * 1_000_000n,
        duration: 40 * ms,
        kind: 2,
      }),
    ];
  };
  const ids: Readonly<Record<string, number>> = { right: 0xe01, ahead: 0xe02, behind: 0xe03 };
  await landed.spans([...skewed(0xe01, 0), ...skewed(0xe02, 5_000), ...skewed(0xe03, -5_000)], other);
  const list = async (query: string) => {
    const { status, body } = await get(`/api/traces?scope=account&from=now-1h&search=name:skewed&limit=10&${query}`);
    t.is(status, 200, JSON.stringify(body));
    return body.items as { traceId: string; durationNs: number }[];
  };
  const all = await list('');
  t.deepEqual(
    all.map(({ durationNs }) => durationNs),
    [100 * ms, 100 * ms, 100 * ms],
  );
  const names = (items: readonly { traceId: string }[]) =>
    items.map(({ traceId }) => Object.keys(ids).find((name) => hex(ids[name] ?? 0, 32) === traceId)).sort();
  const everything = ['ahead', 'behind', 'right'];
  t.deepEqual(names(await list('minDuration=1s')), []);
  t.deepEqual(names(await list('minDuration=100ms')), everything);
  t.deepEqual(names(await list('maxDuration=100ms')), everything);
  t.deepEqual(names(await list('maxDuration=99ms')), []);
  t.deepEqual(names(await list('minDuration=50ms&maxDuration=200ms')), everything);
  for (const [bound, selected] of [
    ['minDuration=1s', 0],
    ['minDuration=100ms', 3],
    ['maxDuration=99ms', 0],
    ['maxDuration=100ms', 3],
    ['minDuration=50ms&maxDuration=200ms', 3],
    ['minDuration=50ms&status=error', 0],
  ] as const) {
    const compared = await get(`/api/traces/compare?scope=account&by=traces&from=now-1h&search=name:skewed&${bound}`);
    t.is(compared.status, 200, JSON.stringify(compared.body));
    t.deepEqual([compared.body.selected.count, compared.body.baseline.count], [selected, 3 - selected], bound);
  }
  const paged = await get('/api/traces?scope=account&from=now-1h&search=name:skewed&limit=2&maxDuration=1s');
  t.is(paged.body.items.length, 2);
  const next = await get(
    `/api/traces?scope=account&from=now-1h&search=name:skewed&limit=2&maxDuration=1s&cursor=${encodeURIComponent(paged.body.nextCursor)}`,
  );
  t.deepEqual(names([...paged.body.items, ...next.body.items]), everything);
});

test.serial(
  'a statement that one span runs for each row is reported as N+1 queries, whatever its values',
  async (t) => {
    const trace = hex(0xb7, 32);
    const start = ago(45);
    const called = (index: number, name: string, text: string): SentSpan => ({
      trace,
      span: hex(2 + index, 16),
      parent: hex(1, 16),
      service: 'shop',
      name,
      kind: 3,
      start: start + BigInt(index) * 10n,
      duration: 10,
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': text },
    });
    const each = Array.from({ length: 5 }, (_, index) =>
      called(index, 'SELECT items', `SELECT price FROM items WHERE id = ${index}`),
    );
    const others = Array.from({ length: 3 }, (_, index) => called(5 + index, 'SELECT users', 'SELECT 1 FROM users'));
    await landed.spans(
      [
        { trace, span: hex(1, 16), service: 'shop', name: 'GET /cart', kind: 2, start, duration: 100 },
        ...each,
        ...others,
      ],
      other,
    );
    const { body } = await get(`/api/traces/${trace}`);
    const expected = { callerSpanId: hex(1, 16), firstSpanId: hex(2, 16), service: 'shop', name: 'SELECT items' };
    t.deepEqual(body.repeatedCalls, [{ ...expected, count: 5, criticalPathNs: 50 }]);
  },
);

test.serial('a trace of many spans is paged, and each page has the summary of all spans', async (t) => {
  const trace = hex(0xb1, 32);
  // The cost of reading all pages is quadratic, so one run in eight uses the size that the web page must support.
  const { part, of } = selectRunPart(8);
  const count = part === 0 || of === 1 ? 100_000 : 25_000;
  // Sequential groups of a hundred spans below the root.
  const spans = Array.from({ length: count }, (_, index): SentSpan => {
    const group = Math.floor(index / 100);
    const parent = index === 0 ? {} : { parent: hex(index % 100 === 0 ? 1 : group * 100 + 1, 16) };
    return {
      trace,
      span: hex(index + 1, 16),
      ...parent,
      service: `part-${group % 7}`,
      name: 'step',
      start: ago(50) + BigInt(index),
      duration: index === 0 ? count : index % 100 === 0 ? 100 : 1,
    };
  });
  for (let at = 0; at < count; at += 25_000) await landed.spans(spans.slice(at, at + 25_000), other);
  const seen: string[] = [];
  let cursor: string | null = '';
  do {
    const { status, body } = await get(`/api/traces/${trace}?cursor=${cursor}`);
    t.is(status, 200);
    t.deepEqual([body.spanCount, body.criticalPath.durationNs, body.rootCount], [count, count, 1]);
    t.is(body.criticalPath.segments.length, 10_000);
    t.is(
      body.services.reduce((sum: number, { criticalPathNs }: { criticalPathNs: number }) => sum + criticalPathNs, 0),
      count,
    );
    seen.push(...body.spans.map(({ spanId }: { spanId: string }) => spanId));
    cursor = body.nextCursor;
    t.is(body.partial.length, cursor === null ? 1 : 2);
  } while (cursor !== null && seen.length <= count);
  const plan = { name: 'enterprise', entitlements: ['traces'], retentionDays: { logs: 30, metrics: 30, traces: 30 } };
  const reader = { columns: harness.columns.forTenant('a'), plan, nowMs: Date.now() };
  const longestTurnMs = await measureLongestIterationMs(() => readTrace(reader, trace), 100);
  t.true(longestTurnMs < 100, `${longestTurnMs.toFixed(0)} ms of a long trace block other requests`);
  t.deepEqual(
    seen,
    spans.map(({ span }) => span),
  );
});

test.serial('logs of a trace are paged, can be limited to one span, and exclude other organizations', async (t) => {
  const trace = hex(0xc1, 32);
  const [first, second] = [hex(1, 16), hex(2, 16)] as const;
  await landed.spans([{ trace, span: first, start: ago(40), duration: 5 * ms }], other);
  const logs = Array.from({ length: 9 }, (_, index) => ({
    trace,
    span: index % 3 === 0 ? second : first,
    time: ago(40) + BigInt(index >> 1),
    body: `record ${index}`,
  }));
  await landed.logs([...logs, { trace, time: ago(9 * hours), body: 'a day before' }]);
  await landed.logs([{ trace, time: ago(40), body: canary }], { tenant: 'b' });
  const newestFirst = ['8', '7', '6', '5', '4', '3', '2', '1', '0'].map((index) => `record ${index}`);
  for (const limit of [1, 2, 9, 100]) {
    const seen: string[] = [];
    let cursor: string | null = '';
    do {
      const { body } = await get(`/api/traces/${trace}/logs?limit=${limit}&cursor=${cursor}`);
      seen.push(...body.items.map((each: { body: string }) => each.body));
      cursor = body.nextCursor;
    } while (cursor !== null && seen.length < 100);
    t.deepEqual(seen, newestFirst);
  }
  const { body } = await get(`/api/traces/${trace}/logs?spanId=${second.toUpperCase()}`);
  t.deepEqual(
    body.items.map((each: { body: string }) => each.body),
    ['record 6', 'record 3', 'record 0'],
  );
  t.is((await get(`/api/traces/${trace}/logs?spanId=2`)).status, 400);
  t.is((await get(`/api/traces/${hex(0xc2, 32)}/logs`)).status, 404);
  t.is((await get('/api/traces/nothing/logs')).status, 404);
});

const spanPages = async (query: string, limit: number): Promise<Record<string, unknown>[]> => {
  const seen: Record<string, unknown>[] = [];
  let cursor: string | null = '';
  do {
    const { body } = await get(`/api/spans?projectId=p1&from=now-6h&${query}&limit=${limit}&cursor=${cursor}`);
    seen.push(...body.items);
    cursor = body.nextCursor;
    if (JSON.stringify(body).includes(canary)) throw new Error('a span of another organization');
  } while (cursor !== null && seen.length < 1_000);
  return seen;
};

for (const [order, placeOf, sign] of [
  ['newest', ({ start }: SentSpan) => start, -1],
  ['oldest', ({ start }: SentSpan) => start, 1],
  ['slowest', ({ duration }: SentSpan) => BigInt(duration), -1],
] as const)
  test.serial(`spans, ${order} first, in pages of any size`, async (t) => {
    const expectedSpans = listed.filter(({ service }) => service === 'cart');
    const whole = await spanPages(`service=cart&order=${order}`, 1000);
    t.deepEqual(whole.map(({ spanId }) => spanId).sort(), expectedSpans.map(({ span: id }) => id).sort());
    const values = whole.map(({ spanId }) => placeOf(listed.find(({ span: id }) => id === spanId) as SentSpan));
    t.deepEqual(
      values,
      values.toSorted((one, two) => sign * inOrder(one, two)),
    );
    t.deepEqual(
      (await spanPages(`service=cart&order=${order}`, 30)).map(({ spanId }) => spanId),
      whole.map(({ spanId }) => spanId),
    );
  });

test.serial('span figures are grouped, and errors in a request are reported', async (t) => {
  const { body } = await get(
    '/api/spans?projectId=p1&from=now-6h&search=size:>=50&measure=count,p100(duration)&groupBy=service',
  );
  const large = listed.filter(({ attributes }) => Number(attributes?.['size']) >= 50);
  t.deepEqual(
    body.aggregate.rows.toSorted((one: string[], two: string[]) => ((one[0] ?? '') < (two[0] ?? '') ? -1 : 1)),
    services.map((service) => {
      const own = large.filter((each) => each.service === service);
      return [service, own.length, Math.max(...own.map(({ duration }) => Number(duration)))];
    }),
  );
  t.deepEqual(body.items, []);
  const punctuation = 'projectId=p1&from=now-6h&service=cart&search=...';
  t.deepEqual((await get(`/api/spans?${punctuation}`)).body.items, [], 'punctuation alone finds nothing');
  t.deepEqual((await get(`/api/spans?${punctuation}&measure=count`)).body.aggregate.rows, [[0]]);
  const byStep = await get('/api/spans?projectId=p1&from=now-6h&service=cart&measure=count&step=30m');
  t.is(
    byStep.body.aggregate.series[0].points.reduce((sum: number, [, count]: [number, number]) => sum + count, 0),
    listed.filter(({ service }) => service === 'cart').length,
  );
  for (const [query, path, message] of [
    ['measure=median(duration)', 'measure', /one of count/],
    ['measure=p95', 'measure', /expected a field/],
    ['measure=count where service:cart', 'measure', /column 13: expected a search in quotes/],
    ['measure=count where "duration:soon"', 'measure', /column 10: expected a duration/],
    ['measure=count&order=slowest', 'order', /is for spans: groups are sorted by sort/],
    ['sort=-count', 'sort', /needs a measure/],
    ['measure=count&groupBy=service&sort=-name', 'sort', /must be one of count/],
    ['measure=sum', 'measure', /expected a field/],
    ['groupBy=service', 'groupBy', /needs a measure/],
    ['measure=count&step=soon', 'step', /duration/],
    ['search=duration:>fast&measure=count', 'search', /column 10/],
    ['order=largest', 'order', /newest/],
  ] as const) {
    const response = await get(`/api/spans?scope=account&${query}`);
    t.is(response.status, 400, query);
    t.is(response.body.details[0].path, path, query);
    t.regex(response.body.details[0].message, message, query);
  }
});

test.serial('the fields of spans are those of stored spans, each with the number of spans', async (t) => {
  const { body } = await get('/api/traces/fields?projectId=p1&from=now-7h&limit=1000');
  t.is(body.records, listed.length);
  const size = body.items.find(({ name }: { name: string }) => name === 'size');
  t.deepEqual(
    [size.kind, size.types, size.records],
    ['attribute', [{ type: 'integer', records: listed.length }], listed.length],
  );
  t.true(body.items.some(({ name, kind }: Record<string, string>) => kind === 'field' && name === 'duration'));
  t.false(JSON.stringify(body).includes(canary));
});
