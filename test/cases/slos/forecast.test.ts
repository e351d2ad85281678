/** Forecasts of error budgets: unknown and certain results, and the coverage of the interval. */
import test from 'ava';
import { type Block, computeForecast } from '../../../subjects/slos/forecast.ts';

const even = (count: number, block: Block): Block[] => Array.from({ length: count }, () => block);

test('below a fifth of the window a forecast is unknown, with a reason', (t) => {
  const blocks = [...even(19, { bad: 1, total: 100 }), ...even(30, { bad: 0, total: 0 })];
  t.deepEqual(computeForecast({ blocks, windowBlocks: 100, allowed: 0.01, budgetOf: 'events', isRolling: false }), {
    state: 'unknown',
    reason: '19 of 100 parts of the window have data; a forecast needs a fifth of the parts, and at least 10',
  });
});

test('steady spending runs out at the calculated time, and a spent budget has run out now', (t) => {
  const of = { windowBlocks: 100, allowed: 0.01, budgetOf: 10_000, isRolling: false } as const;
  t.deepEqual(computeForecast({ ...of, blocks: even(30, { bad: 2, total: 100 }) }), {
    state: 'known',
    runsOutIn: 20,
    interval: [20, 20],
    breachChance: 1,
  });
  t.deepEqual(computeForecast({ ...of, blocks: even(30, { bad: 1, total: 100 }) }), {
    state: 'known',
    runsOutIn: 70,
    interval: [70, 70],
    breachChance: 1,
  });
  t.deepEqual(computeForecast({ ...of, blocks: even(30, { bad: 0.5, total: 100 }) }), {
    state: 'known',
    runsOutIn: null,
    interval: [null, null],
    breachChance: 0,
  });
  const spent = computeForecast({ ...of, blocks: even(30, { bad: 4, total: 100 }) });
  t.deepEqual(spent, { state: 'known', runsOutIn: 0, interval: [0, 0], breachChance: 1 });
});

test('a rolling window drops old blocks, so spending that ended long ago does not exhaust the budget', (t) => {
  const blocks = [...even(10, { bad: 9, total: 100 }), ...even(90, { bad: 0, total: 100 })];
  const of = { blocks, windowBlocks: 100, allowed: 0.01, isRolling: true } as const;
  const forecast = computeForecast({ ...of, budgetOf: 'events' });
  t.true(forecast.state === 'known' && forecast.breachChance < 0.5);
  t.deepEqual(forecast, computeForecast({ ...of, budgetOf: 'events' }));
});

/** A separate random generator, so that the test shares no code with the forecast. */
const lehmer = (seed: number): (() => number) => {
  let state = (seed * 7919 + 12_345) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

const poisson = (mean: number, random: () => number): number => {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count += 1;
  return count;
};

/** How a service fails: steadily, and sometimes in bursts, which are larger by a factor. */
interface Failing {
  readonly bursts: number;
  readonly size: readonly [least: number, most: number];
}

const futureOf = (
  seed: number,
  failing: Failing,
): { readonly blocks: readonly Block[]; readonly random: () => number } => {
  const random = lehmer(seed);
  const [minSize, maxSize] = failing.size;
  const [steady, burst] = [1 + 4 * random(), minSize + (maxSize - minSize) * random()];
  const one = (): Block => ({ bad: poisson(random() < failing.bursts ? burst : steady, random), total: 1000 });
  return { blocks: Array.from({ length: 200 }, one), random };
};

/** The number of blocks after which these have used up the remaining budget. */
const endOf = (coming: readonly Block[], budget: number): number => {
  let left = budget;
  for (const [step, { bad }] of coming.entries()) {
    if (left <= bad) return step + left / bad;
    left -= bad;
  }
  return Number.POSITIVE_INFINITY;
};

/**
 * Of a number of simulated budgets: how many are within the interval, and how many outlast the window, where any
 * interval is right.
 */
const countCovered = (budgets: number, failing: Failing): { readonly covered: number; readonly never: number } => {
  let [covered, never] = [0, 0];
  for (let seed = 1; seed <= budgets; seed += 1) {
    const { blocks, random } = futureOf(seed, failing);
    const now = 40 + Math.floor(40 * random());
    const past = blocks.slice(0, now);
    const spent = past.reduce((sum, { bad }) => sum + bad, 0);
    const budget = spent * (1.2 + 1.3 * random());
    const of = { windowBlocks: 200, allowed: budget / 200_000, budgetOf: 200_000, isRolling: false };
    const forecast = computeForecast({ ...of, blocks: past });
    if (forecast.state === 'unknown') continue;
    const end = endOf(blocks.slice(now), budget - spent);
    const [earliest, latest] = forecast.interval.map((each) => each ?? Number.POSITIVE_INFINITY);
    if (end >= (earliest ?? 0) && end <= (latest ?? 0)) covered += 1;
    if (end === Number.POSITIVE_INFINITY) never += 1;
  }
  return { covered, never };
};

/** A short history rarely includes rare bursts, so the interval covers fewer of these budgets. */
const kinds: readonly (Failing & { readonly kind: string; readonly budgets: number; readonly minShare: number })[] = [
  { kind: 'bursts in one part of twenty', bursts: 0.05, size: [5, 20], budgets: 1000, minShare: 0.75 },
  { kind: 'steady errors', bursts: 0, size: [0, 0], budgets: 300, minShare: 0.75 },
  { kind: 'bursts in one part of five', bursts: 0.2, size: [5, 20], budgets: 300, minShare: 0.75 },
  { kind: 'rare large bursts', bursts: 0.02, size: [20, 40], budgets: 300, minShare: 0.7 },
];

for (const { kind, budgets, minShare, ...failing } of kinds)
  test(`on ${budgets} simulated budgets with ${kind} the 80 % interval covers ${100 * minShare} to 85 %`, (t) => {
    const { covered, never } = countCovered(budgets, failing);
    t.log(`${covered} of ${budgets}, ${never} outlast the window`);
    t.true(covered >= minShare * budgets && covered <= 0.85 * budgets, `${covered} of ${budgets}`);
    t.true(never < budgets / 10, 'few budgets outlast the window, where any interval would hold');
  });
