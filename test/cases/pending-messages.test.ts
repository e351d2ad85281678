/** Messages that a thread retains for its tasks. */
import test from 'ava';
import { HeldMessages } from '../../processors/engine/pending-messages.ts';
import { TransferMemoryPool } from '../../runtime/memory.ts';
import { Budget } from '../../runtime/reading-window.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';

const bytes = 1_000;

/** The messages of a range, including `last`. */
const messages = (first: number, last: number): BusRecord[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ({
    offset: first + index,
    timestampMs: 0,
    key: '',
    headers: {},
    value: Buffer.alloc(bytes),
  }));

const open = (maxBytes: number) => {
  const budget = new Budget(maxBytes);
  const forgotten: number[] = [];
  const heldMessages = new HeldMessages(
    budget,
    new TransferMemoryPool(),
    async (numbers) => void forgotten.push(...numbers),
  );
  const reader = (next: number) => {
    const created = { next };
    heldMessages.readers.add(created);
    return created;
  };
  /** A reader processes a range; returns the number of messages sent to the thread for it. */
  const accept = (who: { next: number }, first: number, last: number): number => {
    const sent = heldMessages.send(messages(first, last));
    who.next = last + 1;
    sent.onSettled();
    return sent.chunks.reduce((sum, { records }) => sum + records.offsets.length, 0);
  };
  return { budget, forgotten, heldMessages, reader, accept };
};

test('a message is sent to the thread once, however the ranges of its readers are split', (t) => {
  const { reader, accept, budget } = open(1_000_000);
  const [one, two, three] = [reader(0), reader(0), reader(0)];
  t.is(accept(one, 0, 9), 10);
  t.is(accept(two, 0, 14), 5);
  t.is(accept(one, 10, 19), 5);
  t.is(accept(three, 0, 19), 0);
  t.is(accept(two, 15, 19), 0);
  t.is(budget.heldBytes, 0, 'all have read all');
});

test('a call lists its messages in order, even if already sent messages are between new ones', (t) => {
  const { heldMessages, reader, accept } = open(1_000_000);
  const [one, two] = [reader(0), reader(5)];
  reader(0);
  accept(two, 5, 7);
  accept(one, 0, 2);
  const { runs, chunks, onSettled } = heldMessages.send(messages(0, 9));
  const offsets = new Map(chunks.map(({ number, records }) => [number, records.offsets]));
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
  onSettled();
});

test('messages that no reader needs are evicted', (t) => {
  const { reader, accept, budget, forgotten } = open(1_000_000);
  const [one, two] = [reader(0), reader(0)];
  accept(one, 0, 9);
  t.deepEqual(forgotten, []);
  t.is(budget.heldBytes, 10 * bytes);
  accept(two, 0, 9);
  t.is(forgotten.length, 1);
  t.is(budget.heldBytes, 0);
});

test('a slow reader leaves the shared read, and joins it again later', (t) => {
  const { reader, accept, budget } = open(25 * bytes);
  const [ahead, behind] = [reader(0), reader(0)];
  for (let at = 0; at < 100; at += 10) accept(ahead, at, at + 9);
  t.true(budget.heldBytes <= 25 * bytes, `${budget.heldBytes} bytes`);
  t.is(accept(behind, 0, 49), 30, 'the messages that it needs first are there, and it sends the discarded ones');
  t.is(accept(behind, 50, 99), 50);
  t.is(budget.heldBytes, 0);
  t.is(accept(ahead, 100, 109), 10);
  t.is(accept(behind, 100, 109), 0, 'it has caught up');
});

test('readers that have fallen behind together send each message once', (t) => {
  const { reader, accept, budget } = open(25 * bytes);
  const [ahead, behind, last] = [reader(0), reader(0), reader(0)];
  for (let at = 0; at < 100; at += 10) accept(ahead, at, at + 9);
  for (const each of [behind, last]) t.is(accept(each, 0, 19), 0, 'it was retained for them');
  for (let at = 20; at < 100; at += 20) {
    t.is(accept(behind, at, at + 19), 20);
    t.is(accept(last, at, at + 19), 0);
  }
  t.is(budget.heldBytes, 0);
});

test('readers with equal lag share the messages that one of them sends', (t) => {
  const { reader, accept, budget } = open(25 * bytes);
  const [ahead, one, other] = [reader(1_000), reader(0), reader(0)];
  for (let at = 0; at < 100; at += 10) {
    accept(ahead, 1_000 + at, 1_009 + at);
    t.is(accept(one, at, at + 9), 10);
    t.is(accept(other, at, at + 9), 0);
    t.is(budget.heldBytes, 0, 'and nothing is retained for a reader that is far from it');
  }
});

test('messages that one window retains for long are evicted for messages that another window needs soon', (t) => {
  const budget = new Budget(30 * bytes);
  const windows = [0, 1].map(() => new HeldMessages(budget, new TransferMemoryPool(), () => Promise.resolve()));
  const [stuck, lively] = windows as [HeldMessages, HeldMessages];
  const accept = (heldMessages: HeldMessages, who: { next: number }, first: number): number => {
    const sent = heldMessages.send(messages(first, first + 9));
    who.next = first + 10;
    sent.onSettled();
    return sent.chunks.length;
  };
  const [ahead, one, other] = [{ next: 0 }, { next: 0 }, { next: 0 }];
  for (const reader of [ahead, { next: 0 }]) stuck.readers.add(reader);
  for (const reader of [one, other]) lively.readers.add(reader);
  for (let at = 0; at < 50; at += 10) accept(stuck, ahead, at);
  t.is(budget.heldBytes, 30 * bytes);
  for (let at = 0; at < 50; at += 10) {
    t.is(accept(lively, one, at), 1);
    t.is(accept(lively, other, at), 0);
  }
});

test('messages of a running call are retained, however many there are', (t) => {
  const { heldMessages, reader, forgotten, budget } = open(5 * bytes);
  reader(0);
  const sent = heldMessages.send(messages(0, 9));
  heldMessages.clean();
  t.deepEqual(forgotten, []);
  sent.onSettled();
  t.is(forgotten.length, 1);
  t.is(budget.heldBytes, 0);
});

test('a terminated thread retains nothing', (t) => {
  const { heldMessages, reader, accept, budget } = open(1_000_000);
  const one = reader(0);
  reader(0);
  accept(one, 0, 9);
  heldMessages.discardAll();
  t.is(budget.heldBytes, 0);
  t.is(accept(one, 0, 9), 10);
});

test('messages in shared memory are not copied, and their memory is retained until the thread has released them', async (t) => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const heldMessages = new HeldMessages(new Budget(1_000_000), new TransferMemoryPool(), () => answered);
  const [one, two] = [{ next: 0 }, { next: 0 }];
  for (const reader of [one, two]) heldMessages.readers.add(reader);
  const shared = messages(0, 9).map((message) => ({ ...message, value: Buffer.from(new SharedArrayBuffer(bytes)) }));
  const batch = [...shared.slice(0, 5), ...messages(5, 9)];
  let sentCount = 0;
  const onSent = () => {
    sentCount++;
    return () => void sentCount--;
  };
  const accept = (reader: { next: number }) => {
    const sent = heldMessages.send(batch, onSent);
    reader.next = 10;
    sent.onSettled();
    return sent.chunks;
  };
  const [piece] = accept(one);
  const buffers = piece?.records.values.map(({ buffer }) => buffer);
  t.deepEqual(
    buffers?.map((buffer) => batch.findIndex(({ value }) => value.buffer === buffer)),
    [0, 1, 2, 3, 4, -1, -1, -1, -1, -1],
  );
  t.is(sentCount, 1);
  t.deepEqual(accept(two), []);
  t.is(sentCount, 1, 'it is retained until the thread reports that it was discarded');
  answer();
  await answered;
  await Promise.resolve();
  t.is(sentCount, 0);
  t.not(
    heldMessages.send(shared).chunks[0]?.records.values[0]?.buffer,
    shared[0]?.value.buffer,
    'a bus that cannot retain it',
  );
});
