/** The part of a wide range that is analyzed by the minute. */
import test from 'ava';
import { findLargestIncrease, getSampleStepMs, type SampledStep } from '../../../subjects/causes/wide-range.ts';

const hourMs = 3_600_000;
const createSteps = (describe: (index: number) => Partial<SampledStep>): SampledStep[] =>
  Array.from({ length: 200 }, (_, index) => ({
    atMs: index * hourMs,
    requests: 1000,
    errors: 10 + (index % 5),
    durationSum: 1000 * (20 + (index % 3)) * 1e6,
    ...describe(index),
  }));

test('the step from which more requests fail is found, although it ends soon and durations vary', (t) => {
  const steps = createSteps((index) => (index >= 90 && index < 93 ? { errors: 200 } : {}));
  t.is(findLargestIncrease(steps)?.atMs, 90 * hourMs);
});

test('the step from which requests are slower is found', (t) => {
  const steps = createSteps((index) => (index >= 150 ? { durationSum: 1000 * 80 * 1e6 } : {}));
  t.is(findLargestIncrease(steps)?.atMs, 150 * hourMs);
});

test('steps with few requests, and the first steps, are no increase', (t) => {
  const steps = createSteps((index) => (index === 0 || index === 120 ? { requests: 5, errors: 5 } : { errors: 10 }));
  t.not(findLargestIncrease(steps)?.atMs, 120 * hourMs);
  t.is(findLargestIncrease(steps.slice(0, 2)), undefined);
});

test('a sample has at most 720 steps of full minutes', (t) => {
  t.is(getSampleStepMs(13 * hourMs), 120_000);
  t.is(getSampleStepMs(30 * 24 * hourMs), hourMs);
});
