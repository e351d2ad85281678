/** Large backfills of SLO measurements wait in a queue, and block no other work. */
import test from 'ava';
import { BackFillQueue } from '../../../processors/slos/back-fills.ts';

test('backfills of one organization run one at a time, in order, and in parallel with those of others', async (t) => {
  const backFills = new BackFillQueue(() => 0);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (tenantId: string, name: string, untilMs = 1) =>
    backFills.runQueued(tenantId, untilMs, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = [run('a', 'first'), run('a', 'second'), run('b', 'of b'), run('a', 'third')];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  t.deepEqual(started, ['first', 'of b']);
  ends.get('first')?.();
  await settle();
  t.deepEqual(started, ['first', 'of b', 'second']);
  for (const name of ['second', 'of b']) ends.get(name)?.();
  await settle();
  ends.get('third')?.();
  await Promise.all(all);
  t.is(started.at(-1), 'third');
});

test('a backfill that waits too long proceeds anyway, and a failing backfill does not block the next', async (t) => {
  let nowMs = 0;
  const backFills = new BackFillQueue(() => nowMs);
  const started: string[] = [];
  let end = (): void => {};
  const failing = backFills.runQueued('a', 10, async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    throw new Error('away');
  });
  const late = backFills.runQueued('a', 10, async () => void started.push('late'));
  const patient = backFills.runQueued('a', 30, async () => void started.push('patient'));
  nowMs = 20;
  end();
  await t.throwsAsync(failing, { message: 'away' });
  await Promise.all([late, patient]);
  t.deepEqual(started, ['patient']);
  await backFills.runQueued('a', 30, async () => void started.push('again'));
  t.deepEqual(started, ['patient', 'again']);
});
