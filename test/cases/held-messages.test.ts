/** Messages that a thread holds for its tasks. */
import test from 'ava';
import { HeldMessages } from '../../processors/engine/held-messages.ts';
import { Memory } from '../../runtime/memory.ts';
import { Budget } from '../../runtime/reading-window.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';

const bytes = 1_000;

/** Messages of a range, `last` included. */
const messages = (first: number, last: number): BusRecord[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ({
    ...{ offset: first + index, timestampMs: 0, key: '', headers: {}, value: Buffer.alloc(bytes) },
  }));

const open = (mostBytes: number) => {
  const budget = new Budget(mostBytes);
  const forgotten: number[] = [];
  const held = new HeldMessages(budget, new Memory(), async (numbers) => void forgotten.push(...numbers));
  const reader = (next: number) => {
    const made = { next };
    held.readers.add(made);
    return made;
  };
  /** A reader takes a range; answers how many messages went to the thread for it. */
  const take = (who: { next: number }, first: number, last: number): number => {
    const sent = held.send(messages(first, last));
    who.next = last + 1;
    sent.settled();
    return sent.pieces.reduce((sum, { records }) => sum + records.offsets.length, 0);
  };
  return { budget, forgotten, held, reader, take };
};

test('a message goes to the thread once, however ranges of its readers are cut', (t) => {
  const { reader, take, budget } = open(1_000_000);
  const [one, two, three] = [reader(0), reader(0), reader(0)];
  t.is(take(one, 0, 9), 10);
  t.is(take(two, 0, 14), 5);
  t.is(take(one, 10, 19), 5);
  t.is(take(three, 0, 19), 0);
  t.is(take(two, 15, 19), 0);
  t.is(budget.held, 0, 'all have read all');
});

test('a call names its messages in order, also where others lie between those that are new', (t) => {
  const { held, reader, take } = open(1_000_000);
  const [one, two] = [reader(0), reader(5)];
  reader(0);
  take(two, 5, 7);
  take(one, 0, 2);
  const { runs, pieces, settled } = held.send(messages(0, 9));
  const offsets = new Map(pieces.map(({ number, records }) => [number, records.offsets]));
  t.deepEqual(
    runs.map(({ from, to }) => to - from),
    [3, 2, 3, 2],
  );
  t.deepEqual(
    [...offsets.values()],
    [
      [3, 4],
      [8, 9],
    ],
  );
  settled();
});

test('what no reader needs is forgotten', (t) => {
  const { reader, take, budget, forgotten } = open(1_000_000);
  const [one, two] = [reader(0), reader(0)];
  take(one, 0, 9);
  t.deepEqual(forgotten, []);
  t.is(budget.held, 10 * bytes);
  take(two, 0, 9);
  t.is(forgotten.length, 1);
  t.is(budget.held, 0);
});

test('one that does not come along leaves the common reading, and joins it again', (t) => {
  const { reader, take, budget } = open(25 * bytes);
  const [ahead, behind] = [reader(0), reader(0)];
  for (let at = 0; at < 100; at += 10) take(ahead, at, at + 9);
  t.true(budget.held <= 25 * bytes, `${budget.held} bytes`);
  t.is(take(behind, 0, 49), 50, 'it brings what was forgotten');
  t.is(take(behind, 50, 99), 50);
  t.is(budget.held, 0);
  t.is(take(ahead, 100, 109), 10);
  t.is(take(behind, 100, 109), 0, 'it has caught up');
});

test('messages of a call under way are held, however many there are', (t) => {
  const { held, reader, forgotten, budget } = open(5 * bytes);
  reader(0);
  const sent = held.send(messages(0, 9));
  held.clean();
  t.deepEqual(forgotten, []);
  sent.settled();
  t.is(forgotten.length, 1);
  t.is(budget.held, 0);
});

test('a thread that is gone holds nothing', (t) => {
  const { held, reader, take, budget } = open(1_000_000);
  const one = reader(0);
  reader(0);
  take(one, 0, 9);
  held.lost();
  t.is(budget.held, 0);
  t.is(take(one, 0, 9), 10);
});
