/** Consumers in one process that read the same partition share its fetches. */
import test from 'ava';
import type { FetchedBatch } from '../../adapters/bus-kafka/fetcher.ts';
import { SharedFetcher } from '../../adapters/bus-kafka/shared-fetcher.ts';
import { Budget } from '../../runtime/reading-window.ts';

const pieceLength = 10;
const recordBytes = 1_000;

/**
 * A broker with the given number of records in a partition; a fetch at the end waits for more records or for its
 * fetcher to close.
 */
const broker = (records: number) => {
  const state = { end: records, fetched: 0, released: 0, open: 0, failure: undefined as Error | undefined };
  const wakes = new Set<() => void>();
  const open = () => {
    const closed = Promise.withResolvers<undefined>();
    state.open++;
    return {
      async fetch(_topic: string, _partition: number, offset: number): Promise<FetchedBatch | undefined> {
        if (state.failure !== undefined) throw state.failure;
        while (offset >= state.end) {
          const { promise, resolve } = Promise.withResolvers<'more'>();
          wakes.add(() => resolve('more'));
          if ((await Promise.race([promise, closed.promise])) === undefined) return undefined;
        }
        const next = Math.min(state.end, offset + pieceLength);
        state.fetched += next - offset;
        const all = Array.from({ length: next - offset }, (_, index) => ({
          offset: offset + index,
          timestampMs: 0,
          record: { value: Buffer.alloc(recordBytes) } as never,
        }));
        return { records: all, next, release: () => state.released++ };
      },
      close() {
        state.open--;
        closed.resolve(undefined);
      },
    };
  };
  const grow = (by: number): void => {
    state.end += by;
    for (const wake of wakes) wake();
    wakes.clear();
  };
  return { state, open, grow };
};

/** Reads up to an offset; returns the offsets read. */
const read = async (
  reader: { fetch: (...at: [string, number, number]) => Promise<FetchedBatch | undefined> },
  from: number,
  to: number,
) => {
  const seen: number[] = [];
  for (let at = from; at < to; ) {
    const piece = await reader.fetch('logs', 0, at);
    if (piece === undefined) break;
    seen.push(...piece.records.map(({ offset }) => offset));
    at = piece.next;
    piece.release();
  }
  return seen;
};

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

test('readers in step fetch each record once, even if they start at different offsets', async (t) => {
  const { state, open } = broker(100);
  const shared = new SharedFetcher(open, new Budget(1_000_000));
  const readers = Array.from({ length: 5 }, () => shared.createReader(open()));
  const seen = await Promise.all(readers.map((reader, index) => read(reader, index, 100)));
  for (const [index, offsets] of seen.entries()) t.deepEqual(offsets, range(index, 100));
  t.true(state.fetched <= 120, `${state.fetched} records`);
  for (const reader of readers) reader.close();
  t.is(state.open, 0, 'nothing is connected where nobody reads');
});

test('a lagging reader fetches alone, and joins the others at the end', async (t) => {
  const { state, open, grow } = broker(1_000);
  const shared = new SharedFetcher(open, new Budget(50 * recordBytes));
  const [ahead, behind] = [shared.createReader(open()), shared.createReader(open())];
  await read(behind, 0, 10);
  await read(ahead, 0, 1_000);
  t.true(state.fetched <= 1_010, `${state.fetched} records`);
  t.deepEqual(await read(behind, 10, 1_000), range(10, 1_000));
  const before = state.fetched;
  const both = Promise.all([read(ahead, 1_000, 1_100), read(behind, 1_000, 1_100)]);
  grow(100);
  t.deepEqual(await both, [range(1_000, 1_100), range(1_000, 1_100)]);
  t.is(state.fetched - before, 100);
});

test('a closing reader stops waiting, and the others continue', async (t) => {
  const { open, grow } = broker(10);
  const shared = new SharedFetcher(open, new Budget(1_000_000));
  const [one, other] = [shared.createReader(open()), shared.createReader(open())];
  const waiting = [one, other].map((reader) => reader.fetch('logs', 0, 10));
  one.close();
  t.is(await waiting[0], undefined);
  grow(5);
  t.is((await waiting[1])?.next, 15);
});

test('a failure reaches all waiting readers, and the next fetch retries', async (t) => {
  const { state, open } = broker(10);
  const shared = new SharedFetcher(open, new Budget(1_000_000));
  const readers = [shared.createReader(open()), shared.createReader(open())];
  state.failure = new Error('gone');
  for (const failed of readers.map((reader) => reader.fetch('logs', 0, 0)))
    await t.throwsAsync(() => failed, { message: 'gone' });
  state.failure = undefined;
  t.is((await readers[0]?.fetch('logs', 0, 0))?.next, 10);
});

test('the memory of a buffer is reused after all readers have released it', async (t) => {
  const { state, open } = broker(10);
  const shared = new SharedFetcher(open, new Budget(1_000_000));
  const readers = [shared.createReader(open()), shared.createReader(open())];
  const [one, other] = await Promise.all(readers.map((reader) => reader.fetch('logs', 0, 0)));
  for (const reader of readers) void reader.fetch('logs', 0, 10);
  one?.release();
  one?.release();
  t.is(state.released, 0);
  other?.release();
  t.is(state.released, 1);
  for (const reader of readers) reader.close();
});
