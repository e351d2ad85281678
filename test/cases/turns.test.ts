/** Tasks of one thread take turns. */
import test from 'ava';
import { TimedTurn, type Turn } from '../../processors/engine/turn.ts';
import { Turns } from '../../processors/engine/turns.ts';
import { compute } from '../processor-time.ts';

/** Works until the turn is over, so often. */
const busy =
  (turns: number, went: string[], name: string) =>
  (turn: Turn): string | undefined => {
    went.push(name);
    while (!turn.isOver());
    return went.filter((each) => each === name).length < turns ? undefined : name;
  };

test('a turn is over after its time, whatever one piece of work takes', (t) => {
  const began = performance.now();
  const turn = new TimedTurn(200);
  let pieces = 0;
  while (!turn.isOver()) pieces++;
  t.true(performance.now() - began >= 200);
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

interface Made {
  readonly name: string;
  readonly at: number;
  readonly partition?: string;
  /** Of each turn. */
  readonly items?: number;
  readonly ms?: number;
}

/** Readers of partitions begin in this moment, and are at 26 in the end, an offset a turn. Answers who went. */
const read = async (...readers: readonly Made[]): Promise<string> => {
  const turns = new Turns();
  let went = '';
  await Promise.all(
    readers.map(({ name, at, partition = 'logs/0', items = 1_000, ms = 0 }, task) => {
      const reader = { partition, at, span: 10, items: 0 };
      const step = (): string | undefined => {
        went += name;
        compute(ms);
        reader.at++;
        reader.items += items;
        return reader.at < 26 ? undefined : name;
      };
      return turns.take(task, step, reader);
    }),
  );
  return went;
};

test('those that read a partition stay together: the one that is farthest behind goes first', async (t) => {
  const went = await read({ name: 'a', at: 20 }, { name: 'b', at: 17 }, { name: 'c', at: 15 });
  // The first went before the others came.
  t.regex(went, /^acc(bc|cb){4}/);
  t.is(went.length, 6 + 9 + 11);
});

for (const [what, made] of [
  ['takes long for an item', { items: 10 }],
  ['is far behind', { at: -100 }],
  ['reads another partition', { partition: 'logs/1' }],
] as const)
  test(`no other waits for one that ${what}`, async (t) => {
    const [ahead, behind] = [
      { name: 'a', at: 20 },
      { name: 'b', at: 16, ms: 10 },
    ];
    t.regex(await read(ahead, behind), /^ab{5}/);
    t.regex(await read(ahead, { ...behind, ...made }), /^ab{1,4}a/);
  });
