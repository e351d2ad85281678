/** When the thread that watches the event loop wakes up, and what it reports. */
import test from 'ava';
import { LoopBlockageDetector } from '../../runtime/event-loop-lag.ts';

const limits = { blockedMs: 200, reportBeforeEndMs: 5_000 };

/** Runs the watchdog from 0 to `endMs`; `heartbeatAt` is the time of the last iteration of the loop. */
const watched = (endMs: number, heartbeatAt: (nowMs: number) => number) => {
  const silence = new LoopBlockageDetector(limits);
  const reportedAtMs: number[] = [];
  let wakes = 0;
  for (let nowMs = 0; nowMs <= endMs; wakes++) {
    const { blockedForMs, waitMs } = silence.check(nowMs, heartbeatAt(nowMs));
    if (blockedForMs !== undefined) reportedAtMs.push(nowMs);
    nowMs += waitMs;
  }
  return { reportedAtMs, wakes };
};

test('While the loop runs 20 times a second, its watchdog wakes up at most 7 times', (t) => {
  const { reportedAtMs, wakes } = watched(60_000, (nowMs) => Math.floor(nowMs / 50) * 50);
  t.deepEqual(reportedAtMs, []);
  t.true(wakes <= 60 * 7, `${wakes} in a minute`);
});

test('A blocked loop is checked at its limit, then at the long limit, then after twice as long', (t) => {
  const { reportedAtMs } = watched(21_000, () => 0);
  t.deepEqual(reportedAtMs, [200, 5_000, 10_000, 20_000]);
});

test('A loop that blocks again after a long time is checked within its limit and once more', (t) => {
  // The second blockage starts while the watchdog waits for the long limit of the first.
  const { reportedAtMs } = watched(3_000, (nowMs) => (nowMs < 1_030 ? 0 : 1_030));
  t.is(reportedAtMs[0], 200);
  t.true((reportedAtMs[1] ?? 0) >= 1_230 && (reportedAtMs[1] ?? 0) <= 1_430, String(reportedAtMs[1]));
});
