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
  fetching: Promise<void> | undefined;

  constructor(budget: Budget) {
    this.window = new ReadingWindow<HeldBatch>(budget, (pieces) => {
      for (const { release } of pieces) release();
    });
  }
}

/** Fetches of one topic. It has open connections while at least one consumer reads. */
class TopicFetcher {
  readonly fronts = new Map<number, PartitionFront>();
  readonly #open: () => FetchSource;
  #fetcher: FetchSource | undefined;

  constructor(open: () => FetchSource) {
    this.#open = open;
  }

  get fetcher(): FetchSource {
    this.#fetcher ??= this.#open();
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
   * Returns a reader for one membership of a consumer. `ownFetcher` fetches records that are behind the shared front; it is
   * closed with the reader.
   */
  reader(ownFetcher: FetchSource): FetchSource {
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
          if (heldBatch !== undefined) return sliceFrom(front, heldBatch, offset);
          const isBehindFront = front.window.readers.size > 1 && offset < front.next;
          if (front.fetching === undefined && isBehindFront) return await ownFetcher.fetch(topic, partition, offset);
          front.fetching ??= this.#advance(front, topic, partition, offset);
          await Promise.race([front.fetching, closed.promise]);
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
    const known = this.#topics.get(topic) ?? new TopicFetcher(this.#open);
    this.#topics.set(topic, known);
    return known;
  }

  #getFront(topic: string, partition: number): PartitionFront {
    const { fronts } = this.#getTopic(topic);
    const known = fronts.get(partition) ?? new PartitionFront(this.#budget);
    fronts.set(partition, known);
    return known;
  }

  async #advance(front: PartitionFront, topic: string, partition: number, offset: number): Promise<void> {
    try {
      const piece = await this.#getTopic(topic).fetcher.fetch(topic, partition, offset);
      if (piece === undefined) return;
      front.next = piece.next;
      front.window.add({ ...piece, first: offset, bytes: countBytes(piece) });
    } finally {
      front.fetching = undefined;
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

/** The part of a piece from an offset on. */
const sliceFrom = ({ window }: PartitionFront, held: HeldBatch, offset: number): FetchedBatch => {
  window.use(held);
  let isHeld = true;
  return {
    records: held.first === offset ? held.records : held.records.filter((record) => record.offset >= offset),
    next: held.next,
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      window.leave(held);
      window.releaseUnneeded();
    },
  };
};
