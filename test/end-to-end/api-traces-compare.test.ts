/** Attributes that distinguish slow or failed spans and traces, through the API over spans sent as OTLP. */
import test from 'ava';
import { randomOf } from '../cases/random.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landedIn, type SentSpan } from './landed-spans.ts';

// The tests run serially: concurrent requests could time out on a busy machine.
let harness: Harness;
const start = BigInt(Date.now() - 600_000) * 1_000_000n;
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const canary = 'canary-of-b';

/** Requests of version 2.1, on one pod, are slow twice as often. Large requests fail. */
const sent = (): SentSpan[] => {
  const random = randomOf(3);
  return Array.from({ length: 1_500 }, (_, index) => index + 1).flatMap((number) => {
    const isNew = random() < 0.2;
    const isSlow = random() < (isNew ? 0.7 : 0.1);
    const bytes = Math.floor(random() * 10_000);
    const trace = hex(number, 32);
    const root = {
      trace,
      span: hex(number, 16),
      service: 'web',
      name: 'GET /cart',
      kind: 2,
      start: start + BigInt(number),
      duration: (isSlow ? 900 : 50) * 1_000_000,
      status: random() < bytes / 12_000 ? 2 : 0,
      resource: {
        'service.version': isNew ? '2.1' : '2.0',
        'k8s.pod.name': isNew ? 'web-new' : `web-${Math.floor(random() * 3)}`,
      },
      attributes: {
        'user.id': `user-${number}`,
        'request.bytes': bytes,
        color: ['red', 'blue', 'green'][Math.floor(random() * 3)],
        'http.response.status_code': 200,
        ...(isSlow && random() < 0.9 ? { 'retry.reason': 'timeout' } : {}),
      },
    };
    return [
      root,
      { trace, span: hex(number + 100_000, 16), parent: root.span, service: 'cart', start: root.start, duration: 5 },
    ];
  });
};

/** Orders with a coupon run another statement and are slow. Each statement has its own literals. */
const orders = (): SentSpan[] =>
  Array.from({ length: 400 }, (_, index) => index + 1).flatMap((number) => {
    const hasCoupon = number % 5 === 0;
    const trace = hex(900_000 + number, 32);
    const root = {
      trace,
      span: hex(900_000 + number, 16),
      service: 'orders',
      name: 'POST /order',
      kind: 2,
      start: start + BigInt(number),
      duration: (hasCoupon ? 900 : 50) * 1_000_000,
    };
    const querySpan = (text: string, at: number): SentSpan => ({
      trace,
      span: hex(number * 10 + at, 16),
      parent: root.span,
      service: 'orders',
      name: 'query',
      kind: 3,
      start: root.start,
      duration: 5,
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': text },
    });
    return [
      ...[root, querySpan(`SELECT * FROM carts WHERE id = ${number}`, 1)],
      ...(hasCoupon ? [querySpan(`SELECT rate FROM coupons WHERE code = 'c-${number}' AND cart = ${number}`, 2)] : []),
    ];
  });

test.before(async () => {
  harness = await startHarness({ projects: ['p1', 'many', 'none', 'orders'] });
  const { spans } = landedIn(harness);
  const all = sent();
  await spans(all);
  await spans(orders(), { project: 'orders' });
  await spans(
    all.map((span) => ({ ...span, attributes: { canary }, service: canary })),
    { tenant: 'b' },
  );
});
test.after.always(() => harness?.close());

const compare = async (query: string) => {
  const { status, body } = await harness.request('GET', `/api/traces/compare?${query}`, { as: 'viewer' });
  return { status, body };
};

test.serial(
  'slow spans: the cause is ranked first, with the counts of the spans and the correlated values',
  async (t) => {
    const { status, body } = await compare('projectId=p1&search=kind:server&minDuration=500ms');
    t.is(status, 200);
    const roots = sent().filter(({ kind }) => kind === 2);
    const slow = roots.filter(({ duration }) => Number(duration) >= 500_000_000);
    const rest = roots.length - slow.length;
    t.deepEqual(
      [body.selected, body.baseline],
      [
        { count: slow.length, sampled: slow.length },
        { count: rest, sampled: rest },
      ],
    );
    t.false(body.isSampled);
    t.is(body.reason, null);
    // The attribute that only slow requests have is first; the cause of the slowness is next.
    const [first, second] = body.items;
    t.deepEqual(
      [first.field, first.value, first.baseline.count, first.lift.reason],
      ['attribute.retry.reason', 'timeout', 0, 'not in the baseline'],
    );
    t.true(['resource.service.version', 'resource.k8s.pod.name'].includes(second.field));
    const ofVersion = (spans: readonly SentSpan[], version: string): number =>
      spans.filter(({ resource }) => resource?.['service.version'] === version).length;
    const version = second.value === 'web-new' ? '2.1' : second.value;
    t.is(second.selected.count, ofVersion(slow, version));
    t.is(second.selected.count + second.baseline.count, ofVersion(roots, version));
    t.is(second.difference, second.selected.count / slow.length - second.baseline.count / rest);
    t.true(second.interval[0] < second.difference && second.difference < second.interval[1]);
    t.true(second.correlated.length >= 2);
    t.true(second.adjustedPValue >= second.pValue && second.adjustedPValue <= body.falseDiscoveryRate);
    const itemsText = JSON.stringify(body.items);
    for (const field of ['color', 'user.id', 'status_code', 'request.bytes']) t.false(itemsText.includes(field), field);
    t.true(
      body.excluded.some(
        ({ field, reason }: Record<string, string>) =>
          field === 'attribute.user.id' && /probably an id/.test(reason ?? ''),
      ),
    );
    t.true(body.tests > 5 && body.found >= 4);
    t.false(JSON.stringify(body).includes(canary));
  },
);

test.serial('failed spans: numbers are compared by rank', async (t) => {
  const { body } = await compare('projectId=p1&search=kind:server&status=error');
  const [first] = body.items;
  t.deepEqual([first.field, first.value, first.test], ['attribute.request.bytes', null, 'rank']);
  t.true(first.difference > 0.3);
  t.is(body.selected.count, sent().filter(({ status }) => status === 2).length);
});

test.serial('whole traces, and spans of a search, can be compared', async (t) => {
  const { body } = await compare('projectId=p1&by=traces&minDuration=500ms&service=cart&limit=1');
  t.is(body.selected.count, sent().filter(({ duration }) => Number(duration) >= 500_000_000).length);
  t.is(body.selected.count + body.baseline.count, 1_500);
  t.is(body.items.length, 1);
  t.is(body.items[0].field, 'attribute.retry.reason');
  const byBytes = await compare('projectId=p1&by=traces&status=error');
  t.is(byBytes.body.items[0].field, 'attribute.request.bytes');
  const red = await compare('projectId=p1&search=kind:server&selection=color:red');
  t.deepEqual([red.body.items[0].field, red.body.items[0].selected.share], ['attribute.color', 1]);
});

test.serial('a comparison of many spans uses a sample, and states this', async (t) => {
  const random = randomOf(5);
  const { spans } = landedIn(harness);
  const many = Array.from({ length: 45_000 }, (_, index): SentSpan => {
    const zone = random() < 0.1 ? 'far' : 'near';
    return {
      trace: hex(index + 1, 32),
      span: hex(index + 1, 16),
      start: start + BigInt(index),
      attributes: { zone, die: Math.floor(random() * 6) },
      duration: random() < (zone === 'far' ? 0.5 : 0.02) ? 2_000_000_000 : 1,
    };
  });
  await spans(many, { project: 'many' });
  const { body } = await compare('projectId=many&minDuration=2s');
  const slow = many.filter(({ duration }) => Number(duration) > 1).length;
  t.deepEqual(
    [body.selected, body.baseline.count, body.isSampled],
    [{ count: slow, sampled: slow }, 45_000 - slow, true],
  );
  t.true(body.baseline.sampled > 10_000 && body.baseline.sampled < 25_000);
  t.is(body.items.length, 1);
  t.deepEqual([body.items[0].field, body.items[0].correlated.length], ['attribute.zone', 1]);
  t.true(Math.abs(body.items[0].baseline.share - (body.items[0].value === 'far' ? 0.053 : 0.947)) < 0.02);
});

test.serial('an empty comparison states why, and a request without a selection is refused', async (t) => {
  for (const [query, reason] of [
    ['projectId=none&status=error', /no spans/],
    ['projectId=p1&minDuration=1h', /none of 3000 spans/],
    ['projectId=p1&maxDuration=1h', /all 3000 spans/],
    ['scope=account&by=traces&minDuration=1h', /none of \d+ traces/],
  ] as const) {
    const { status, body } = await compare(query);
    t.is(status, 200);
    t.regex(body.reason, reason);
    t.deepEqual([body.items, body.tests], [[], 0]);
  }
  for (const [query, path] of [
    ['scope=account', 'selection'],
    ['status=error', 'projectId'],
    ['scope=account&selection=duration:>fast', 'selection'],
    ['scope=account&minDuration=5', 'minDuration'],
    ['scope=account&status=error&search=(', 'search'],
  ] as const) {
    const { status, body } = await compare(query);
    t.is(status, 400, query);
    t.is(body.details[0].path, path);
  }
});

test.serial('a database statement distinguishes traces without its literals', async (t) => {
  for (const by of ['traces', 'spans']) {
    const selected = by === 'traces' ? 'minDuration=500ms' : 'selection=db.query.text:*coupons*';
    const { body } = await compare(`projectId=orders&by=${by}&${selected}`);
    const found = [...body.items, ...body.items.flatMap(({ correlated }: { correlated: object[] }) => correlated)];
    t.true(
      found.some(
        ({ field, value }) => field === 'statement' && value === 'SELECT rate FROM coupons WHERE code = ? AND cart = ?',
      ),
      JSON.stringify(found),
    );
    t.false(JSON.stringify(body).includes('db.query.text'));
  }
});
