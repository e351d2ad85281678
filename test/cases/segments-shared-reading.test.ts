/**
 * Groups of the embedded bus with the same position share reads of a partition; a group that lags does not delay
 * others.
 */
import test from 'ava';
import type { SegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { type Disk, disk } from '../../adapters/bus-segments/disk.ts';
import { openOffsetStore } from '../../adapters/bus-segments/offset-store.ts';
import { eventually } from '../waiting.ts';
import { publish, segmentsUnderTest, topic } from './segments-harness.ts';

const messages = 60;
const messageBytes = 300_000;
const text = (index: number): string => `${index} `.padEnd(messageBytes, '.');

/** A disk that counts the bytes read from segments. */
const counting = () => {
  const read = { bytes: 0 };
  const counted: Disk = {
    ...disk,
    async open(path, mode) {
      const file = await disk.open(path, mode);
      return {
        ...file,
        async read(buffer, position) {
          const filled = await file.read(buffer, position);
          read.bytes += filled;
          return filled;
        },
      };
    },
  };
  return { read, disk: counted };
};

/** A group that records the number of each message; a batch waits for `gate`. */
const join = (bus: SegmentsBus, group: string, gate: () => Promise<void> = async () => undefined) => {
  const seen: number[] = [];
  const consumer = bus.createConsumer({ group, maxWaitMs: 5, maxBytes: 2_000_000 });
  const done = consumer.run([topic.name], async ({ records }) => {
    const numbers = records.map(({ value }) => Number.parseInt(value.toString('latin1', 0, 10), 10));
    await gate();
    // The values must be intact until the batch is acknowledged.
    for (const [index, { value }] of records.entries()) {
      const number = numbers[index] as number;
      if (value.toString('latin1') === text(number)) seen.push(number);
    }
  });
  return { seen, stop: () => consumer.stop().then(() => done) };
};

const all = Array.from({ length: messages }, (_, index) => index);

test('twenty groups in step read each byte once', async (t) => {
  const { read, disk: counted } = counting();
  const bus = await (await segmentsUnderTest(t)).open({ disk: counted });
  const groups = Array.from({ length: 20 }, (_, index) => join(bus, `group-${index}`));
  for (let at = 0; at < messages; at += 10) {
    await publish(bus, ...all.slice(at, at + 10).map(text));
    await eventually('all have read all', () => groups.every(({ seen }) => seen.length === at + 10));
  }
  for (const { seen, stop } of groups) {
    t.deepEqual(seen, all);
    await stop();
  }
  t.true(read.bytes < 1.5 * messages * messageBytes, `${read.bytes} bytes`);
});

test('groups with slow batches delay no other group, read skipped records together, and rejoin the others', async (t) => {
  const { read, disk: counted } = counting();
  const bus = await (await segmentsUnderTest(t)).open({ disk: counted });
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const slow = Array.from({ length: 3 }, (_, index) => join(bus, `slow-${index}`, () => opened));
  const quick = Array.from({ length: 4 }, (_, index) => join(bus, `quick-${index}`));
  const rounds = 5;
  for (let round = 0; round < rounds; round++) {
    await publish(bus, ...all.map(text));
    await eventually('the others have read all', () =>
      quick.every(({ seen }) => seen.length === (round + 1) * messages),
    );
  }
  for (const { seen } of slow) t.deepEqual(seen, []);
  open();
  await eventually('they have caught up', () => slow.every(({ seen }) => seen.length === rounds * messages));
  t.true(read.bytes < 2.5 * rounds * messages * messageBytes, `${read.bytes} bytes`);
  const before = read.bytes;
  await publish(bus, ...all.map(text));
  await eventually('all have read all', () =>
    [...slow, ...quick].every(({ seen }) => seen.length === (rounds + 1) * messages),
  );
  t.true(read.bytes - before < 1.5 * messages * messageBytes, `${read.bytes - before} bytes`);
  for (const { seen, stop } of [...slow, ...quick]) {
    t.deepEqual(seen, Array.from({ length: rounds + 1 }, () => all).flat());
    await stop();
  }
});

test('groups that join and leave read all messages, each once', async (t) => {
  const bus = await (await segmentsUnderTest(t)).open();
  const first = join(bus, 'first');
  await publish(bus, ...all.map(text));
  const second = join(bus, 'second');
  await eventually('the first has started', () => first.seen.length > 0);
  await first.stop();
  await publish(bus, ...all.map(text));
  const again = join(bus, 'first');
  const third = join(bus, 'third');
  await eventually('all have read all', () =>
    [second.seen, third.seen, [...first.seen, ...again.seen]].every(({ length }) => length === 2 * messages),
  );
  for (const seen of [second.seen, third.seen, [...first.seen, ...again.seen]]) t.deepEqual(seen, [...all, ...all]);
  for (const { stop } of [second, again, third]) await stop();
});

test('positions saved at the same moment are durable when the save resolves, and nothing is saved after a close', async (t) => {
  const { directory } = await segmentsUnderTest(t);
  const store = openOffsetStore(directory);
  const position = (group: string, committed: number) => ({
    group,
    topic: 'letters',
    partition: 0,
    committed,
    claimed: undefined,
  });
  const saved = Promise.all([store.saveBatched(position('one', 1)), store.saveBatched(position('two', 2))]);
  t.is(store.position('one', 'letters', 0), undefined);
  await saved;
  t.is(store.position('one', 'letters', 0)?.committed, 1);
  const patient = store.saveBatched(position('two', 3), 60_000);
  await store.saveBatched(position('one', 2));
  await patient;
  t.is(store.position('two', 'letters', 0)?.committed, 3, 'one that can wait is saved with the next');
  const last = store.saveBatched(position('one', 3), 60_000);
  store.close();
  await last;
  await t.throwsAsync(() => store.saveBatched(position('one', 4)), { message: /closed/ });
  const reopened = openOffsetStore(directory);
  t.is(reopened.position('one', 'letters', 0)?.committed, 3);
  t.is(reopened.position('two', 'letters', 0)?.committed, 3);
  reopened.close();
});
