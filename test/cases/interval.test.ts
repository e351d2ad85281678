/** Periodic work: callbacks with the same interval run in the same event loop iteration, each under its own name, until stopped. */
import test from 'ava';
import { getCurrentWork, trackWork } from '../../runtime/current-work.ts';
import { runEvery } from '../../runtime/interval.ts';
import { eventually } from '../waiting.ts';

/** Returns a counter of event loop iterations that ran callbacks. */
const createIterationCounter = () => {
  let count = 0;
  let isCounted = false;
  return (): number => {
    if (!isCounted) {
      count++;
      isCounted = true;
      queueMicrotask(() => setImmediate(() => (isCounted = false)));
    }
    return count;
  };
};

test('callbacks with the same interval run at the same time, even if they started at different times', async (t) => {
  const nextCount = createIterationCounter();
  const one: number[] = [];
  const other: number[] = [];
  const stops = [runEvery(21, () => one.push(nextCount()))];
  await new Promise((resolve) => setTimeout(resolve, 10));
  stops.push(runEvery(21, () => other.push(nextCount())));
  await eventually('both were called ten times', () => Math.min(one.length, other.length) >= 10);
  for (const stop of stops) stop();
  t.deepEqual(other, one.slice(-other.length));
});

test('each callback runs under the name of the work that started it', async (t) => {
  const names = new Map<number, string | undefined>();
  const stops = [1, 2].map((one) =>
    trackWork(`job ${one}`, () => runEvery(22, () => names.set(one, getCurrentWork()))),
  );
  await eventually('both were called', () => names.size === 2);
  for (const stop of stops) stop();
  t.deepEqual(
    [...names],
    [
      [1, 'job 1'],
      [2, 'job 2'],
    ],
  );
});

test('a stopped callback is not called again, others continue, and one started after all have stopped is called', async (t) => {
  const calls = { stopped: 0, other: 0, later: 0 };
  const stop = runEvery(23, () => calls.stopped++);
  const stopOther = runEvery(23, () => calls.other++);
  stop();
  stop();
  await eventually('the other was called three times', () => calls.other >= 3);
  t.is(calls.stopped, 0);
  stopOther();
  const stopLater = runEvery(23, () => calls.later++);
  const { other } = calls;
  await eventually('the later one was called three times', () => calls.later >= 3);
  stopLater();
  t.is(calls.other, other);
});
