/** When schedules poll for due work: within their rate limit, and seldom if no work is due. */
import test from 'ava';
import { DueTimer } from '../../processors/engine/due-polling.ts';

/** A poller with a clock that the test advances. A poll returns `dueMs`. */
const openPolling = (dueMs: number, nowMs = 0) => {
  const state = { nowMs, dueMs };
  const polledAtMs: number[] = [];
  let timer: { readonly atMs: number; readonly work: () => void } | undefined;
  const poller = new DueTimer({
    runDue() {
      polledAtMs.push(state.nowMs);
      return state.dueMs;
    },
    now: () => state.nowMs,
    minIntervalMs: 100,
    timers: {
      setTimeout(work, ms) {
        timer = { atMs: state.nowMs + ms, work };
        return timer as unknown as NodeJS.Timeout;
      },
      clearTimeout: () => {
        timer = undefined;
      },
    },
  });
  const passUntil = (untilMs: number): void => {
    while (timer !== undefined && timer.atMs <= untilMs) {
      const { atMs, work } = timer;
      timer = undefined;
      state.nowMs = atMs;
      work();
    }
    state.nowMs = untilMs;
  };
  return { poller, polledAtMs, state, passUntil };
};

test('If no work is due for an hour, the poller polls 60 times a minute', (t) => {
  const { polledAtMs, passUntil } = openPolling(3_600_000);
  passUntil(60_100);
  t.is(polledAtMs.length, 61);
});

test('The poller polls at the moment at which work is due', (t) => {
  const { polledAtMs, passUntil, state } = openPolling(437);
  passUntil(200);
  state.dueMs = 10_000;
  passUntil(999);
  t.deepEqual(polledAtMs, [100, 437]);
});

test('Polls have a minimum interval, however much work is due', (t) => {
  const { polledAtMs, passUntil } = openPolling(Number.NEGATIVE_INFINITY);
  passUntil(500);
  t.deepEqual(polledAtMs, [100, 200, 300, 400, 500]);
});

test('Work that becomes due earlier is polled in time, however often it is announced', (t) => {
  const { poller, polledAtMs, passUntil, state } = openPolling(60_000);
  passUntil(150);
  poller.addDueTime(620);
  for (const atMs of [200, 250]) {
    passUntil(atMs);
    poller.addDueTime(Number.NEGATIVE_INFINITY);
  }
  passUntil(310);
  t.deepEqual(polledAtMs, [100, 300]);
  poller.addDueTime(620);
  passUntil(619);
  t.deepEqual(polledAtMs, [100, 300]);
  state.dueMs = Number.POSITIVE_INFINITY;
  passUntil(999);
  t.deepEqual(polledAtMs, [100, 300, 620]);
  passUntil(1_000);
  t.deepEqual(polledAtMs, [100, 300, 620, 1_000]);
});

test('The poller does not poll after the stop, even if work becomes due then', (t) => {
  const { poller, polledAtMs, passUntil } = openPolling(0);
  poller.stop();
  poller.addDueTime(0);
  passUntil(5_000);
  t.deepEqual(polledAtMs, []);
});

test('Idle pollers poll at the same moments', (t) => {
  const moments = [0, 130, 770, 999].map((beginMs) => {
    const { polledAtMs, passUntil, poller } = openPolling(Number.POSITIVE_INFINITY, beginMs);
    passUntil(5_000);
    poller.stop();
    return polledAtMs.filter((atMs) => atMs > 2_000);
  });
  for (const one of moments) t.deepEqual(one, [3_000, 4_000, 5_000]);
});
