/** Jaeger's storage fixtures: each of the 25 queries finds exactly its traces. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';
import { jaegerCases, jaegerSpans } from './jaeger-cases.ts';
import { landedIn } from './landed-spans.ts';

// The tests run serially: concurrent requests could time out on a busy machine.
let harness: Harness;
const hour = BigInt(Math.floor(Date.now() / 3_600_000) - 5) * 3_600_000_000_000n;

test.before(async () => {
  harness = await startHarness();
  await landedIn(harness).spans(jaegerSpans(hour));
});
test.after.always(() => harness?.close());

/** Jaeger searches a tag in the span, process, scope, events and links. */
const anywhere = ([key, value]: readonly [string, unknown]): string =>
  `(${['', 'scope.', 'events.', 'links.'].map((prefix) => `${prefix}${key}:${value}`).join(' OR ')})`;

for (const { title, service, operation, tags, minDurationNs, maxDurationNs, range, finds } of jaegerCases)
  test.serial(`Jaeger's ${service}: ${title}`, async (t) => {
    const [from, to] = range.map((minutes) => String(hour / 1_000_000n + BigInt(minutes * 60_000) + 31_639n));
    const search = [
      ...(operation ? [`name:${service.replace('service', 'operation')}`] : []),
      ...Object.entries(tags).map(anywhere),
    ];
    const query = new URLSearchParams({
      scope: 'account',
      limit: '1000',
      service,
      from: from ?? '',
      to: `${to}`,
      ...(search.length === 0 ? {} : { search: search.join(' ') }),
      ...(minDurationNs === 0 ? {} : { minDuration: `${minDurationNs}ns` }),
      ...(maxDurationNs === 0 ? {} : { maxDuration: `${maxDurationNs}ns` }),
    });
    const { status, body } = await harness.request('GET', `/api/traces?${query}`, { as: 'viewer' });
    t.is(status, 200);
    t.deepEqual(body.items.map(({ traceId }: { traceId: string }) => traceId).sort(), finds);
  });

test.serial('the test data has 25 queries over 28 traces', (t) => {
  t.is(jaegerCases.length, 25);
  // The example trace is the 28th; it shares the ID of another one.
  t.is(new Set(jaegerSpans(0n).map(({ trace }) => trace)).size, 27);
});
