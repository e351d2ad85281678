/** Results are queued while the platform is unavailable, and sent once it responds. */
import test from 'ava';
import { ResultQueue } from '../../../probes/result-queue.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import type { ProbeResult } from '../../../schemas/synthetic-work.ts';
import { eventually } from '../../waiting.ts';

const result = (startedAtMs: number): ProbeResult => ({
  checkId: 'c',
  dueMs: startedAtMs,
  startedAtMs,
  outcome: 'passed',
  attempts: 1,
  durationMs: 1,
  phases: {},
  steps: [],
  message: '',
  traceId: 'a'.repeat(32),
});

test('results that could not be sent are sent again, in order, a hundred per batch', async (t) => {
  let isAway = true;
  const sent: number[][] = [];
  const queue = new ResultQueue(async (results) => {
    if (isAway) throw new Error('away');
    sent.push(results.map(({ dueMs }) => dueMs));
  }, silentLog);
  const stopping = new AbortController();
  const running = queue.run(stopping.signal);
  for (let index = 0; index < 150; index++) queue.add(result(index));
  await eventually('it was tried', () => queue.size === 150);
  isAway = false;
  await eventually('all is sent', () => queue.size === 0);
  t.deepEqual(
    sent.map(({ length }) => length),
    [100, 50],
  );
  t.deepEqual(
    sent.flat(),
    Array.from({ length: 150 }, (_, index) => index),
  );
  queue.add(result(150));
  stopping.abort();
  await running;
  t.is(sent.flat().length, 151);
});

test('results are stored for an hour', (t) => {
  const queue = new ResultQueue(() => Promise.reject(new Error('away')), silentLog);
  queue.add(result(1000));
  queue.add(result(3_600_500));
  t.is(queue.size, 2);
  queue.add(result(3_601_001));
  t.is(queue.size, 2);
});
