/** Fetches records once for several consumers of this process that read the same partition. */
import { type Budget, ReadingWindow, type WindowPiece, type WindowReader } from '../../runtime/reading-window.ts';
import type { Fetcher, Piece } from './fetcher.ts';

type Fetching = Pick<Fetcher, 'fetch' | 'close'>;

interface Held extends WindowPiece, Piece {}

interface Position extends WindowReader {
  next: number;
}

const bytesOf = ({ records }: Piece): number =>
  records.reduce((sum, { record }) => sum + (record.value?.length ?? 0), 0);

/** The front of one partition, where several readers share each fetched piece. */
class Front {
  readonly window: ReadingWindow<Held>;
  next = 0;
  fetching: Promise<void> | undefined;

  constructor(budget: Budget) {
    this.window = new ReadingWindow<Held>(budget, (pieces) => {
      for (const { release } of pieces) release();
    });
  }
}

/** Fetches of one topic. It has open connections while at least one consumer reads. */
class TopicFetcher {
  readonly fronts = new Map<number, Front>();
  readonly #open: () => Fetching;
  #fetcher: Fetching | undefined;

  constructor(open: () => Fetching) {
    this.#open = open;
  }

  get fetcher(): Fetching {
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
  readonly #open: () => Fetching;
  readonly #budget: Budget;
  readonly #topics = new Map<string, TopicFetcher>();

  /** `open` creates a fetcher with its own connections, which its `close` closes. */
  constructor(open: () => Fetching, budget: Budget) {
    this.#open = open;
    this.#budget = budget;
  }

  /**
   * Returns a reader for one membership of a consumer. `own` fetches records that are behind the shared front; it is
   * closed with the reader.
   */
  reader(own: Fetching): Fetching {
    const positions = new Map<Front, Position>();
    const closed = Promise.withResolvers<undefined>();
    let isClosed = false;
    return {
      fetch: async (topic, partition, offset) => {
        const front = this.#frontOf(topic, partition);
        const position = positions.get(front) ?? { next: offset };
        position.next = offset;
        positions.set(front, position);
        front.window.readers.add(position);
        while (!isClosed) {
          const held = front.window.find(offset);
          if (held !== undefined) return from(front, held, offset);
          const isPassed = front.window.readers.size > 1 && offset < front.next;
          if (front.fetching === undefined && isPassed) return await own.fetch(topic, partition, offset);
          front.fetching ??= this.#advance(front, topic, partition, offset);
          await Promise.race([front.fetching, closed.promise]);
        }
        return undefined;
      },
      close: () => {
        isClosed = true;
        own.close();
        closed.resolve(undefined);
        for (const [front, position] of positions) {
          front.window.readers.delete(position);
          front.window.clean();
        }
        this.#closeUnused();
      },
    };
  }

  close(): void {
    for (const topic of this.#topics.values()) topic.close();
  }

  #topicOf(topic: string): TopicFetcher {
    const known = this.#topics.get(topic) ?? new TopicFetcher(this.#open);
    this.#topics.set(topic, known);
    return known;
  }

  #frontOf(topic: string, partition: number): Front {
    const { fronts } = this.#topicOf(topic);
    const known = fronts.get(partition) ?? new Front(this.#budget);
    fronts.set(partition, known);
    return known;
  }

  async #advance(front: Front, topic: string, partition: number, offset: number): Promise<void> {
    try {
      const piece = await this.#topicOf(topic).fetcher.fetch(topic, partition, offset);
      if (piece === undefined) return;
      front.next = piece.next;
      front.window.add({ ...piece, first: offset, bytes: bytesOf(piece) });
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
const from = ({ window }: Front, held: Held, offset: number): Piece => {
  window.use(held);
  let isHeld = true;
  return {
    records: held.first === offset ? held.records : held.records.filter((record) => record.offset >= offset),
    next: held.next,
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      window.leave(held);
      window.clean();
    },
  };
};
