/** Verdicts on synthetic requests: injected regressions are found, and false alarms are as rare as stated. */
import test from 'ava';
import { getDurationBucket } from '../../schemas/tables/durations.ts';
import {
  type Aspect,
  compare,
  type MinuteCounts,
  maxFalseAlarmRate,
  studentTProbability,
} from '../../subjects/services/comparison.ts';
import { randomOf } from './random.ts';

interface Traffic {
  /** Requests per minute. */
  readonly rate: number;
  readonly errorRate: number;
  /** Typical duration in milliseconds. */
  readonly ms: number;
  /** Variation between minutes: 0 for independent requests. */
  readonly wobble?: number;
  /** Share of requests that take 20 times as long. */
  readonly tail?: number;
}

const minutesOf = (
  random: () => number,
  count: number,
  { rate, errorRate, ms, wobble = 0, tail = 0 }: Traffic,
): MinuteCounts[] => {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: count }, () => {
    const requests = Math.max(1, Math.round(rate * (1 + 0.2 * normal())));
    const worse = Math.exp(wobble * normal());
    const buckets = new Map<number, number>();
    let errors = 0;
    for (let each = 0; each < requests; each++) {
      if (random() < errorRate * worse) errors++;
      const nanoseconds = ms * 1e6 * worse * Math.exp(0.6 * normal()) * (random() < tail ? 20 : 1);
      const bucket = getDurationBucket(Math.round(nanoseconds));
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
    }
    return { requests, errors, buckets };
  });
};

const trials = 300;
/** How often each aspect is reported as better or worse. */
const called = (seed: number, before: Traffic, after: Traffic, minutes: number): Record<Aspect | 'any', number> => {
  const random = randomOf(seed);
  const counts = { errors: 0, latency: 0, tail: 0, any: 0 };
  for (let trial = 0; trial < trials; trial++) {
    const found = compare(minutesOf(random, minutes, before), minutesOf(random, minutes, after)).filter(
      ({ verdict }) => verdict === 'better' || verdict === 'worse',
    );
    for (const { aspect } of found) counts[aspect]++;
    if (found.length > 0) counts.any++;
  }
  return counts;
};

const quiet = { rate: 20, errorRate: 0.02, ms: 40 };
for (const [title, traffic, minutes] of [
  ['of independent requests', quiet, 30],
  ['of minutes that differ', { ...quiet, wobble: 0.3 }, 30],
  ['of minutes that differ much, and few of them', { ...quiet, wobble: 0.6 }, 10],
  ['of few errors', { ...quiet, errorRate: 0.001 }, 30],
  ['of little traffic', { ...quiet, rate: 5 }, 15],
] as const)
  test(`no change is called one in ${maxFalseAlarmRate * 100} % of cases or fewer: ${title}`, (t) => {
    const { any } = called(7, traffic, traffic, minutes);
    // Of 300 trials with a probability of 1 %, more than 9 occur in less than 0.2 % of cases.
    t.true(any <= 9, `${any} of ${trials}`);
  });

for (const [title, change, aspect] of [
  ['errors from 2 % to 10 %', { errorRate: 0.1 }, 'errors'],
  ['requests that take 1.5 times as long', { ms: 60 }, 'latency'],
  ['one request of six that takes 20 times as long', { tail: 0.16 }, 'tail'],
] as const)
  test(`an injected change is nearly always found: ${title}`, (t) => {
    const counts = called(11, { ...quiet, wobble: 0.1 }, { ...quiet, wobble: 0.1, ...change }, 30);
    t.true(counts[aspect] >= 0.95 * trials, `${counts[aspect]} of ${trials}`);
  });

test('a change is worse or better by its direction, and equal traffic is confidently no difference', (t) => {
  const random = randomOf(3);
  const normalMinutes = minutesOf(random, 60, { ...quiet, rate: 60 });
  const failing = minutesOf(random, 60, { ...quiet, rate: 60, errorRate: 0.1 });
  const verdictOf = (before: MinuteCounts[], after: MinuteCounts[], of: Aspect) =>
    compare(before, after).find(({ aspect }) => aspect === of);
  t.like(verdictOf(normalMinutes, failing, 'errors'), { verdict: 'worse' });
  t.like(verdictOf(failing, normalMinutes, 'errors'), { verdict: 'better' });
  t.true((verdictOf(normalMinutes, failing, 'errors')?.confidence ?? 0) > 0.99);
  const same = verdictOf(normalMinutes, minutesOf(random, 60, { ...quiet, rate: 60 }), 'latency');
  t.is(same?.verdict, 'no difference');
  t.true((same?.confidence ?? 0) > 0.95);
});

test('Student’s t matches the published tables', (t) => {
  for (const [value, freedom, expected] of [
    [12.706, 1, 0.025],
    [2.571, 5, 0.025],
    [2.764, 10, 0.01],
    [2.042, 30, 0.025],
    [0, 7, 0.5],
    [-2.571, 5, 0.975],
  ] as const)
    t.true(
      Math.abs(studentTProbability(value, freedom) - expected) < 2e-5,
      `${value} ${freedom}: ${studentTProbability(value, freedom)}`,
    );
});
