/** Tasks of one thread take turns. */
import test from 'ava';
import { TimedTurn, type Turn } from '../../processors/engine/turn.ts';
import { Turns } from '../../processors/engine/turns.ts';

/** Works until the turn is over, so often. */
const busy =
  (turns: number, went: string[], name: string) =>
  (turn: Turn): string | undefined => {
    went.push(name);
    while (!turn.isOver());
    return went.filter((each) => each === name).length < turns ? undefined : name;
  };

test('a turn is over after its time, whatever one piece of work takes', (t) => {
  const turn = new TimedTurn(5);
  const began = performance.now();
  let pieces = 0;
  while (!turn.isOver()) pieces++;
  t.true(performance.now() - began >= 5);
  t.true(pieces > 100, `${pieces} pieces`);
});

test('a task that comes later has its turn before one that works on', async (t) => {
  const turns = new Turns();
  const went: string[] = [];
  const slow = turns.take(1, busy(5, went, 'slow'));
  const quick = turns.take(2, busy(1, went, 'quick'));
  t.is(await Promise.race([slow, quick]), 'quick');
  t.is(await slow, 'slow');
  t.deepEqual(went, ['slow', 'quick', 'slow', 'slow', 'slow', 'slow']);
});

test('time that a task did not take is not saved up', async (t) => {
  const turns = new Turns();
  const went: string[] = [];
  await turns.take(1, busy(4, went, 'early'));
  const late = turns.take(2, busy(3, went, 'late'));
  const early = turns.take(1, () => 'early');
  await Promise.all([late, early]);
  t.is(went.filter((name) => name === 'late').length, 3);
  t.is(await Promise.race([turns.take(1, () => 'early'), turns.take(2, busy(5, [], 'late'))]), 'early');
});

test('what a task throws rejects its call alone', async (t) => {
  const turns = new Turns();
  const failing = turns.take(1, () => {
    throw new Error('no');
  });
  await t.throwsAsync(failing, { message: 'no' });
  t.is(await turns.take(2, () => 'yes'), 'yes');
});
