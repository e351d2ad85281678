/** Jaeger's storage fixtures: each of their 25 queries finds its traces and no others. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';
import { jaegerCases, jaegerSpans } from './jaeger-cases.ts';
import { landedIn } from './landed-spans.ts';

// One test after the other: together they ask for more than a busy machine answers in the time that a request has.
let harness: Harness;
const hour = BigInt(Math.floor(Date.now() / 3_600_000) - 5) * 3_600_000_000_000n;

test.before(async () => {
  harness = await startHarness();
  await landedIn(harness).spans(jaegerSpans(hour));
});
test.after.always(() => harness?.close());

/** Jaeger looks for a tag in a span, its process and its scope, and in their events and links. */
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
  // The example trace makes 28; it has the id of another.
  t.is(new Set(jaegerSpans(0n).map(({ trace }) => trace)).size, 27);
});
