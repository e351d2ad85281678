/**
 * No address gets more than its share of requests from a location, and waiting time is not measured as time of the
 * target.
 */
import test from 'ava';
import { Deadline } from '../../../probes/deadline.ts';
import { maxPerSecond, PaceError, RateLimiter } from '../../../probes/pace.ts';
import { runHttp, serveHttp } from './targets.ts';

/** Timers may fire early by this time. */
const earlyMs = 5;

test('at most twenty requests per second go to one address, regardless of the caller', async (t) => {
  const times: number[] = [];
  const port = await serveHttp(t, (_, response) => response.end('ok'));
  const pace = new RateLimiter();
  const waitForSlot = pace.waitForSlot.bind(pace);
  pace.waitForSlot = async (address, signal) => {
    await waitForSlot(address, signal);
    times.push(performance.now());
  };
  const url = `http://127.0.0.1:${port}/`;
  const began = performance.now();
  const runs = await Promise.all(Array.from({ length: maxPerSecond + 5 }, () => runHttp([{ url }], { pace })));
  t.true(runs.every(({ outcome }) => outcome === 'passed'));
  t.is(times.length, maxPerSecond + 5);
  t.true((times[maxPerSecond] ?? 0) - began >= 1000 - earlyMs, String(times));
});

test('time spent waiting for the rate limit counts neither as target time nor towards a timeout', async (t) => {
  const port = await serveHttp(t, (_, response) => response.end('ok'));
  const pace = new RateLimiter();
  const { signal } = new AbortController();
  for (let index = 0; index < maxPerSecond; index++) await pace.waitForSlot('127.0.0.1', signal);
  const began = performance.now();
  const { outcome, durationMs } = await runHttp([{ url: `http://127.0.0.1:${port}/` }], { pace });
  const elapsedMs = performance.now() - began;
  t.is(outcome, 'passed');
  t.true(elapsedMs - durationMs > 500, `${elapsedMs} and ${durationMs}`);
  const deadline = new Deadline(300, signal);
  await deadline.runUncounted(() => new Promise((done) => setTimeout(done, 600)));
  t.false(deadline.signal.aborted);
  deadline.end();
});

test('other addresses do not wait, and a run that waits too long is unknown, not down', async (t) => {
  const pace = new RateLimiter(1500);
  const { signal } = new AbortController();
  const pending = Array.from({ length: maxPerSecond * 4 }, () => pace.waitForSlot('192.0.2.1', signal));
  await t.notThrowsAsync(pace.waitForSlot('192.0.2.2', signal));
  const settled = await Promise.allSettled(pending);
  const refused = settled.filter(({ status }) => status === 'rejected');
  t.true(refused.length >= maxPerSecond, 'two seconds’ worth go in one and a half');
  for (const one of refused) t.true((one as PromiseRejectedResult).reason instanceof PaceError);
  const port = await serveHttp(t, (_, response) => response.end('ok'));
  const never = new RateLimiter();
  never.waitForSlot = (address) => Promise.reject(new PaceError(`this location sends too much to ${address}`));
  const { outcome, message } = await runHttp([{ url: `http://127.0.0.1:${port}/` }], { pace: never });
  t.is(outcome, 'unknown');
  t.regex(message, /sends too much to 127\.0\.0\.1/);
});

test('probes of a location share its rate limit', async (t) => {
  const pace = new RateLimiter();
  pace.setProbeCount(4);
  const { signal } = new AbortController();
  const times: number[] = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      await pace.waitForSlot('192.0.2.1', signal);
      times.push(performance.now());
    }),
  );
  t.true((times[maxPerSecond / 4] ?? 0) - began >= 1000 - earlyMs, String(times));
});

test('a request that is cancelled while it waits uses nothing of the rate limit', async (t) => {
  const pace = new RateLimiter();
  pace.setProbeCount(maxPerSecond);
  const stopping = new AbortController();
  const { signal } = new AbortController();
  await pace.waitForSlot('192.0.2.1', signal);
  const stopped = pace.waitForSlot('192.0.2.1', stopping.signal);
  const next = pace.waitForSlot('192.0.2.1', signal);
  stopping.abort(new Error('stopped'));
  await t.throwsAsync(stopped, { message: 'stopped' });
  await t.notThrowsAsync(next);
});
