/** Fetches records once for several consumers of this process that read the same partition. */
import { type Budget, ReadingWindow, type WindowBatch, type WindowReader } from '../../runtime/reading-window.ts';
import type { FetchedBatch, Fetcher } from './fetcher.ts';

type FetchSource = Pick<Fetcher, 'fetch' | 'close'>;

interface HeldBatch extends WindowBatch, FetchedBatch {}

interface Position extends WindowReader {
  next: number;
}

const countBytes = ({ records }: FetchedBatch): number =>
  records.reduce((sum, { record }) => sum + (record.value?.length ?? 0), 0);

/** The most recently fetched records of one partition, which several readers share. */
class PartitionFront {
  readonly window: ReadingWindow<HeldBatch>;
  next = 0;
  pendingFetch: Promise<void> | undefined;

  constructor(budget: Budget) {
    this.window = new ReadingWindow<HeldBatch>(budget, (batches) => {
      for (const { release } of batches) release();
    });
  }
}

/** Fetches of one topic. It has open connections while at least one consumer reads. */
class TopicFetcher {
  readonly fronts = new Map<number, PartitionFront>();
  readonly #createFetcher: () => FetchSource;
  #fetcher: FetchSource | undefined;

  constructor(open: () => FetchSource) {
    this.#createFetcher = open;
  }

  get fetcher(): FetchSource {
    this.#fetcher ??= this.#createFetcher();
    return this.#fetcher;
  }

  /** Ends all waiting calls. */
  close(): void {
    this.#fetcher?.close();
    this.#fetcher = undefined;
  }
}

export class SharedFetcher {
  readonly #open: () => FetchSource;
  readonly #budget: Budget;
  readonly #topics = new Map<string, TopicFetcher>();

  /** `open` creates a fetcher with its own connections, which its `close` closes. */
  constructor(open: () => FetchSource, budget: Budget) {
    this.#open = open;
    this.#budget = budget;
  }

  /**
   * Returns a reader for one membership of a consumer. `ownFetcher` fetches records older than the shared ones; it is
   * closed with the reader.
   */
  createReader(ownFetcher: FetchSource): FetchSource {
    const positions = new Map<PartitionFront, Position>();
    const closed = Promise.withResolvers<undefined>();
    let isClosed = false;
    return {
      fetch: async (topic, partition, offset) => {
        const front = this.#getFront(topic, partition);
        const position = positions.get(front) ?? { next: offset };
        position.next = offset;
        positions.set(front, position);
        front.window.readers.add(position);
        while (!isClosed) {
          const heldBatch = front.window.find(offset);
          if (heldBatch !== undefined) return sliceBatch(front, heldBatch, offset);
          const isBehindFront = front.window.readers.size > 1 && offset < front.next;
          if (front.pendingFetch === undefined && isBehindFront)
            return await ownFetcher.fetch(topic, partition, offset);
          front.pendingFetch ??= this.#advance(front, topic, partition, offset);
          await Promise.race([front.pendingFetch, closed.promise]);
        }
        return undefined;
      },
      close: () => {
        isClosed = true;
        ownFetcher.close();
        closed.resolve(undefined);
        for (const [front, position] of positions) {
          front.window.readers.delete(position);
          front.window.releaseUnneeded();
        }
        this.#closeUnused();
      },
    };
  }

  close(): void {
    for (const topic of this.#topics.values()) topic.close();
  }

  #getTopic(topic: string): TopicFetcher {
    const topicFetcher = this.#topics.get(topic) ?? new TopicFetcher(this.#open);
    this.#topics.set(topic, topicFetcher);
    return topicFetcher;
  }

  #getFront(topic: string, partition: number): PartitionFront {
    const { fronts } = this.#getTopic(topic);
    const front = fronts.get(partition) ?? new PartitionFront(this.#budget);
    fronts.set(partition, front);
    return front;
  }

  async #advance(front: PartitionFront, topic: string, partition: number, offset: number): Promise<void> {
    try {
      const batch = await this.#getTopic(topic).fetcher.fetch(topic, partition, offset);
      if (batch === undefined) return;
      front.next = batch.next;
      front.window.add({ ...batch, first: offset, bytes: countBytes(batch) });
    } finally {
      front.pendingFetch = undefined;
    }
  }

  /** Closes unused fetchers; otherwise a request that waits for records would be repeated forever. */
  #closeUnused(): void {
    for (const [name, topic] of this.#topics) {
      if ([...topic.fronts.values()].some(({ window }) => window.readers.size > 0)) continue;
      topic.close();
      this.#topics.delete(name);
    }
  }
}

/** Returns the part of a batch that starts at an offset. */
const sliceBatch = ({ window }: PartitionFront, heldBatch: HeldBatch, offset: number): FetchedBatch => {
  window.retain(heldBatch);
  let isHeld = true;
  return {
    records:
      heldBatch.first === offset ? heldBatch.records : heldBatch.records.filter((record) => record.offset >= offset),
    next: heldBatch.next,
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      window.stopUsing(heldBatch);
      window.releaseUnneeded();
    },
  };
};
