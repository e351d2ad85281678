/**
 * Snapshots of state by key, in the documents: both stores compare and set, and a backup of them has the state. `test/bench/README.md`
 * has the figures of this and of other places.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Clock } from '../schemas/ports/clock.ts';
import { ConflictError, type Documents, type Stored } from '../schemas/ports/documents.ts';
import {
  type ProcessorState,
  processorStateChunks,
  processorStates,
  processorStatesTenant,
} from '../schemas/resources/processor-state.ts';

export interface Snapshot {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Stores snapshots of state. All of it rejects with `UnavailableError` while the documents are away. */
export interface States {
  /** The last snapshot that was saved, whole; `undefined` when there is none. Rejects with `DamagedStateError` when it cannot be read. */
  load(key: string): Promise<Snapshot | undefined>;
  /** Its number. Cheap. */
  number(key: string): Promise<number | undefined>;
  /**
   * Replaces the snapshot of number `expected` (`undefined` for none), and answers the new number, which is greater than every
   * earlier one of the key. Rejects with `ConflictError` (`version`) when another saved or removed it meanwhile. After any other
   * rejection it may have been saved: the next save then conflicts. `bytes` must not change until it settles.
   */
  save(key: string, bytes: Uint8Array, expected: number | undefined): Promise<number>;
  /** Removes the snapshot. Who saves on top of it gets a `ConflictError`. */
  remove(key: string): Promise<void>;
}

/** A snapshot was changed or lost in part by other hands. */
export class DamagedStateError extends Error {
  readonly key: string;

  constructor(key: string, fault: string, cause?: unknown) {
    super(
      `the saved state ${key} is damaged: ${fault}. Restore the documents from a backup, or remove this state to begin with an empty one: oiq processor-state remove ${key}`,
      cause === undefined ? undefined : { cause },
    );
    this.name = 'DamagedStateError';
    this.key = key;
  }
}

/** A save below this writes no chunks: it is one write. */
const fewBytes = 64 * 1024;
/** As text it is a third more. SQLite keeps everything else from running while it writes one and syncs it: smaller ones would be synced more often. */
const chunkBytes = 768 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** In the thread pool. zstd adds a checksum of the content to the frame, and checks it when it reads. */
const packed = (bytes: Uint8Array): Promise<Buffer> =>
  compress(bytes, {
    // Each chunk of output is a way to the pool and back.
    chunkSize: Math.min(1024 * 1024, Math.max(1024, bytes.length)),
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  });

const unpacked = (bytes: Uint8Array, size: number): Promise<Buffer> =>
  decompress(bytes, {
    chunkSize: Math.min(1024 * 1024, Math.max(1024, size)),
    maxOutputLength: Math.max(1, size),
  });

const textOf = (bytes: Buffer): string => bytes.toString('base64');
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64');

const checkedKey = (key: string): string => {
  if (!/^[\w./-]{1,400}$/.test(key)) throw new TypeError(`${key} is no key of a state`);
  return key;
};

/** Saves of a key sort by the number that they expected. */
const place = (key: string, expected = 0): string => `${key}#${String(expected).padStart(16, '0')}`;

const chunkId = (save: string, index: number): string => `${save}#${index}`;

/** Abandoned chunks that are read at once to be removed: their bytes come with them. */
const abandonedAtOnce = 4;

/**
 * Opens the snapshots that lie in `documents`. The document of a key names its number and the save that wrote it: replacing
 * that document is the compare-and-set, and readers follow it to the chunks, which the save wrote before under an id of its own.
 * Numbers only grow, so a save that expected less than the current number has lost or is outdated: the next save removes its
 * chunks, also when its process was killed.
 */
export const openStates = ({
  documents,
  clock,
}: {
  readonly documents: Pick<Documents, 'of'>;
  readonly clock: Clock;
}): States => {
  const stored = documents.of(processorStatesTenant);
  const heads = stored.collection(processorStates);
  const chunks = stored.collection(processorStateChunks);

  const write = async (save: string, bytes: Buffer): Promise<number> => {
    const count = Math.ceil(bytes.length / chunkBytes);
    for (let index = 0; index < count; index++) {
      const part = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
      await chunks.insert({ id: chunkId(save, index), bytes: textOf(part) });
    }
    return count;
  };

  const discard = async ({ save, chunks: count = 0 }: Pick<ProcessorState, 'save' | 'chunks'>): Promise<void> => {
    for (let index = 0; save !== undefined && index < count; index++) await chunks.delete(chunkId(save, index));
  };

  const discardBetween = async (from: string, to: string): Promise<void> => {
    for (;;) {
      const { items } = await chunks.list({ filter: { id: { $gt: from, $lt: to } }, limit: abandonedAtOnce });
      if (items.length === 0) return;
      for (const { id } of items) await chunks.delete(id);
    }
  };

  /** Removes what came before `number` but for the save that made it. A save that expects `number` may be under way. */
  const discardBefore = async (key: string, number: number, made: string): Promise<void> => {
    await discardBetween(place(key), made);
    await discardBetween(`${made}~`, place(key, number));
  };

  const read = async (key: string, { bytes, save = '', chunks: count = 0 }: ProcessorState): Promise<Buffer> => {
    if (bytes !== undefined) return bytesOf(bytes);
    const parts: Buffer[] = [];
    for (let index = 0; index < count; index++) {
      const chunk = await chunks.find(chunkId(save, index));
      if (chunk === undefined) throw new DamagedStateError(key, `chunk ${index + 1} of ${count} is missing`);
      parts.push(bytesOf(chunk.bytes));
      // SQLite answers at once: chunk after chunk would keep everything else from running.
      await yieldToEventLoop();
    }
    return Buffer.concat(parts);
  };

  const opened = async (key: string, head: ProcessorState): Promise<Snapshot> => {
    const compressed = await read(key, head);
    const bytes = await unpacked(compressed, head.size).catch((cause: unknown) => {
      throw new DamagedStateError(key, 'its bytes are not those that were saved', cause);
    });
    if (bytes.length !== head.size)
      throw new DamagedStateError(key, `${bytes.length} of its ${head.size} bytes are left`);
    return { number: head.number, bytes };
  };

  /** Compare-and-set. */
  const put = async (key: string, fields: ProcessorState, before: Stored | undefined): Promise<void> => {
    if (before === undefined) await heads.insert({ id: key, ...fields });
    else await heads.replace(key, fields, before.version);
  };

  return {
    async load(key) {
      for (;;) {
        const head = await heads.find(checkedKey(key));
        if (head === undefined) return undefined;
        try {
          return await opened(key, head);
        } catch (error) {
          // Its chunks are removed once another snapshot has taken its place.
          if (!(error instanceof DamagedStateError) || (await heads.find(key))?.number === head.number) throw error;
        }
      }
    },

    async number(key) {
      return (await heads.find(checkedKey(key)))?.number;
    },

    async save(key, bytes, expected) {
      const before = await heads.find(checkedKey(key));
      if (before?.number !== expected) throw conflict(key, expected);
      const compressed = await packed(bytes);
      // A key that was removed begins above the numbers that it had.
      const number = expected === undefined ? Math.max(1, Math.floor(clock.now())) : expected + 1;
      const save = `${place(key, expected)}#${randomUUID()}`;
      const content =
        compressed.length <= fewBytes ? { bytes: textOf(compressed) } : { save, chunks: await write(save, compressed) };
      try {
        await put(key, { number, size: bytes.length, ...content }, before);
      } catch (cause) {
        if (!(cause instanceof ConflictError)) throw cause;
        await discard(content).catch(() => undefined);
        throw conflict(key, expected, cause);
      }
      // It is saved: what cannot be removed now is removed by the next save.
      await discard(before ?? {})
        .then(() => discardBefore(key, number, save))
        .catch(() => undefined);
      return number;
    },

    async remove(key) {
      await heads.delete(checkedKey(key));
      await discardBetween(place(key), place(key, Number.MAX_SAFE_INTEGER));
    },
  };
};

const conflict = (key: string, expected: number | undefined, cause?: unknown): ConflictError =>
  new ConflictError(
    'version',
    expected === undefined
      ? `the state ${key} was saved by another: there was none`
      : `the state ${key} was saved or removed by another: it is not number ${expected} any more`,
    { cause },
  );
