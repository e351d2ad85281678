/** Tasks of one thread share its time by slices. */
import test from 'ava';
import { SliceScheduler } from '../../processors/engine/fair-queue.ts';
import { TimedSlice, type TimeSlice } from '../../processors/engine/time-slice.ts';
import { useCpu } from '../cpu-time.ts';

/** A task that uses up a number of time slices. */
const busy =
  (maxSlices: number, order: string[], name: string) =>
  (slice: TimeSlice): string | undefined => {
    order.push(name);
    while (!slice.isOver());
    return order.filter((each) => each === name).length < maxSlices ? undefined : name;
  };

test('a task yields after its time slice, however long one piece of work takes', (t) => {
  const began = performance.now();
  const slice = new TimedSlice(200);
  let pieces = 0;
  while (!slice.isOver()) pieces++;
  t.true(performance.now() - began >= 200);
  t.true(pieces > 100, `${pieces} pieces`);
});

test('a new task runs before a task that continues to work', async (t) => {
  const scheduler = new SliceScheduler();
  const order: string[] = [];
  const slow = scheduler.run(1, busy(5, order, 'slow'));
  const quick = scheduler.run(2, busy(1, order, 'quick'));
  t.is(await Promise.race([slow, quick]), 'quick');
  t.is(await slow, 'slow');
  t.deepEqual(order, ['slow', 'quick', 'slow', 'slow', 'slow', 'slow']);
});

test('unused time of a task is not carried over', async (t) => {
  const scheduler = new SliceScheduler();
  const order: string[] = [];
  await scheduler.run(1, busy(4, order, 'early'));
  const late = scheduler.run(2, busy(3, order, 'late'));
  const early = scheduler.run(1, () => 'early');
  await Promise.all([late, early]);
  t.is(order.filter((name) => name === 'late').length, 3);
  t.is(await Promise.race([scheduler.run(1, () => 'early'), scheduler.run(2, busy(5, [], 'late'))]), 'early');
});

test('an error of a task rejects only its own call', async (t) => {
  const scheduler = new SliceScheduler();
  const failing = scheduler.run(1, () => {
    throw new Error('no');
  });
  await t.throwsAsync(failing, { message: 'no' });
  t.is(await scheduler.run(2, () => 'yes'), 'yes');
});

interface ReaderOptions {
  readonly name: string;
  readonly at: number;
  readonly partition?: string;
  /** The duration of each slice. */
  readonly items?: number;
  readonly ms?: number;
}

/**
 * Starts readers of partitions that process one offset per slice up to 26. Returns the names of the readers in the
 * order of their slices.
 */
const read = async (...readers: readonly ReaderOptions[]): Promise<string> => {
  const scheduler = new SliceScheduler();
  let order = '';
  await Promise.all(
    readers.map(({ name, at: offset, partition = 'logs/0', items = 1_000, ms = 0 }, task) => {
      const reader = { partition, offset, rangeLength: 10, items: 0 };
      const step = (): string | undefined => {
        order += name;
        useCpu(ms);
        reader.offset++;
        reader.items += items;
        return reader.offset < 26 ? undefined : name;
      };
      return scheduler.run(task, step, reader);
    }),
  );
  return order;
};

test('tasks that read the same partition stay together: the task that is furthest behind runs first', async (t) => {
  const order = await read({ name: 'a', at: 20 }, { name: 'b', at: 17 }, { name: 'c', at: 15 });
  // The first reader ran before the others started.
  t.regex(order, /^acc(bc|cb){4}/);
  t.is(order.length, 6 + 9 + 11);
});

for (const [what, options] of [
  ['takes long for an item', { items: 10 }],
  ['is far behind', { at: -100 }],
  ['reads another partition', { partition: 'logs/1' }],
] as const)
  test(`no other task waits for a task that ${what}`, async (t) => {
    const [ahead, behind] = [
      { name: 'a', at: 20 },
      { name: 'b', at: 16, ms: 10 },
    ];
    t.regex(await read(ahead, behind), /^ab{5}/);
    t.regex(await read(ahead, { ...behind, ...options }), /^ab{1,4}a/);
  });
