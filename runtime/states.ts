/**
 * Stores snapshots of state by key in the document store. Both stores support compare-and-set, and backups of documents
 * include the state. `test/bench/README.md` compares this with other storage.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Clock } from '../schemas/ports/clock.ts';
import { ConflictError, type Documents, type StoredMetadata } from '../schemas/ports/documents.ts';
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

/** Stores snapshots of state. All methods reject with `UnavailableError` while the document store is unavailable. */
export interface StateStore {
  /**
   * Returns the last complete snapshot; `undefined` if there is none. Rejects with `DamagedStateError` if it cannot be
   * read.
   */
  load(key: string): Promise<Snapshot | undefined>;
  /** Returns the number of the last snapshot. Cheap. */
  getNumber(key: string): Promise<number | undefined>;
  /**
   * Replaces the snapshot with number `expected` (`undefined` for none). Returns the new number, which is greater than
   * all earlier numbers of the key. Rejects with `ConflictError` (`version`) if another process saved or deleted the
   * snapshot meanwhile. After any other rejection the snapshot may have been saved, and the next save conflicts.
   * `bytes` must not change until the promise settles.
   */
  save(key: string, bytes: Uint8Array, expected: number | undefined): Promise<number>;
  /** Deletes the snapshot. A later save that expects it gets a `ConflictError`. */
  remove(key: string): Promise<void>;
}

/** A snapshot was modified or partly lost. */
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

/** A smaller snapshot is saved in one write, without chunks. */
const maxInlineBytes = 64 * 1024;
/**
 * The text encoding adds a third. SQLite blocks everything else while it writes and syncs a chunk. Smaller chunks would
 * need more syncs.
 */
const chunkBytes = 768 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Compresses in the thread pool. zstd adds a checksum of the content to the frame and verifies it when reading. */
const compressState = (bytes: Uint8Array): Promise<Buffer> =>
  compress(bytes, {
    // Each chunk of output costs a round trip to the thread pool.
    chunkSize: Math.min(1024 * 1024, Math.max(1024, bytes.length)),
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  });

const decompressState = (bytes: Uint8Array, size: number): Promise<Buffer> =>
  decompress(bytes, {
    chunkSize: Math.min(1024 * 1024, Math.max(1024, size)),
    maxOutputLength: Math.max(1, size),
  });

const encodeBase64 = (bytes: Buffer): string => bytes.toString('base64');
const decodeBase64 = (text: string): Buffer => Buffer.from(text, 'base64');

const validateKey = (key: string): string => {
  if (!/^[\w./-]{1,400}$/.test(key)) throw new TypeError(`${key} is not a key of a state`);
  return key;
};

/** Creates the prefix of a save’s ID, which sorts by the expected number. */
const createSaveKey = (key: string, expected = 0): string => `${key}#${String(expected).padStart(16, '0')}`;

const createChunkId = (save: string, index: number): string => `${save}#${index}`;

/** Abandoned chunks read per page during removal: each read includes their bytes. */
const abandonedPageSize = 4;

/**
 * Opens the snapshots in `documents`. The head document of a key contains the snapshot’s number and the ID of the save
 * that wrote it. Each save writes its chunks under its own ID, and then replaces the head with a compare-and-set. Numbers
 * only grow, so a save that expected an older number has failed or is outdated. The next save removes its chunks, even
 * if its process was killed.
 */
export const openStates = ({
  documents,
  clock,
}: {
  readonly documents: Pick<Documents, 'forTenant'>;
  readonly clock: Clock;
}): StateStore => {
  const stateDocuments = documents.forTenant(processorStatesTenant);
  const heads = stateDocuments.collection(processorStates);
  const chunks = stateDocuments.collection(processorStateChunks);

  const writeChunks = async (save: string, bytes: Buffer): Promise<number> => {
    const count = Math.ceil(bytes.length / chunkBytes);
    for (let index = 0; index < count; index++) {
      const chunk = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
      await chunks.insert({ id: createChunkId(save, index), bytes: encodeBase64(chunk) });
    }
    return count;
  };

  const deleteChunks = async ({ save, chunks: count = 0 }: Pick<ProcessorState, 'save' | 'chunks'>): Promise<void> => {
    for (let index = 0; save !== undefined && index < count; index++) await chunks.delete(createChunkId(save, index));
  };

  const deleteChunksBetween = async (from: string, to: string): Promise<void> => {
    for (;;) {
      const { items } = await chunks.list({ filter: { id: { $gt: from, $lt: to } }, limit: abandonedPageSize });
      if (items.length === 0) return;
      for (const { id } of items) await chunks.delete(id);
    }
  };

  /**
   * Deletes the chunks of all saves of the key except `currentSave`, which created snapshot `number`, and later saves: a save
   * that expects `number` may be in progress.
   */
  const deleteAbandonedChunks = async (key: string, number: number, currentSave: string): Promise<void> => {
    await deleteChunksBetween(createSaveKey(key), currentSave);
    await deleteChunksBetween(`${currentSave}~`, createSaveKey(key, number));
  };

  const readBytes = async (key: string, { bytes, save = '', chunks: count = 0 }: ProcessorState): Promise<Buffer> => {
    if (bytes !== undefined) return decodeBase64(bytes);
    const parts: Buffer[] = [];
    for (let index = 0; index < count; index++) {
      const chunk = await chunks.find(createChunkId(save, index));
      if (chunk === undefined) throw new DamagedStateError(key, `chunk ${index + 1} of ${count} is missing`);
      parts.push(decodeBase64(chunk.bytes));
      // SQLite answers synchronously, so a series of chunks would block the event loop.
      await yieldToEventLoop();
    }
    return Buffer.concat(parts);
  };

  const openSnapshot = async (key: string, head: ProcessorState): Promise<Snapshot> => {
    const compressed = await readBytes(key, head);
    const bytes = await decompressState(compressed, head.size).catch((cause: unknown) => {
      throw new DamagedStateError(key, 'its bytes differ from those that were saved', cause);
    });
    if (bytes.length !== head.size)
      throw new DamagedStateError(key, `${bytes.length} of its ${head.size} bytes are left`);
    return { number: head.number, bytes };
  };

  /** Compare-and-set. */
  const replaceHead = async (
    key: string,
    fields: ProcessorState,
    previousHead: StoredMetadata | undefined,
  ): Promise<void> => {
    if (previousHead === undefined) await heads.insert({ id: key, ...fields });
    else await heads.replace(key, fields, previousHead.version);
  };

  return {
    async load(key) {
      for (;;) {
        const head = await heads.find(validateKey(key));
        if (head === undefined) return undefined;
        try {
          return await openSnapshot(key, head);
        } catch (error) {
          // The chunks disappear once another snapshot replaced this one.
          if (!(error instanceof DamagedStateError) || (await heads.find(key))?.number === head.number) throw error;
        }
      }
    },

    async getNumber(key) {
      return (await heads.find(validateKey(key)))?.number;
    },

    async save(key, bytes, expected) {
      const previousHead = await heads.find(validateKey(key));
      if (previousHead?.number !== expected) throw toConflictError(key, expected);
      const compressed = await compressState(bytes);
      // A deleted key restarts above its earlier numbers.
      const number = expected === undefined ? Math.max(1, Math.floor(clock.now())) : expected + 1;
      const save = `${createSaveKey(key, expected)}#${randomUUID()}`;
      const content =
        compressed.length <= maxInlineBytes
          ? { bytes: encodeBase64(compressed) }
          : { save, chunks: await writeChunks(save, compressed) };
      try {
        await replaceHead(key, { number, size: bytes.length, ...content }, previousHead);
      } catch (cause) {
        if (!(cause instanceof ConflictError)) throw cause;
        await deleteChunks(content).catch(() => undefined);
        throw toConflictError(key, expected, cause);
      }
      // The snapshot is saved. The next save removes leftovers.
      await deleteChunks(previousHead ?? {})
        .then(() => deleteAbandonedChunks(key, number, save))
        .catch(() => undefined);
      return number;
    },

    async remove(key) {
      await heads.delete(validateKey(key));
      await deleteChunksBetween(createSaveKey(key), createSaveKey(key, Number.MAX_SAFE_INTEGER));
    },
  };
};

const toConflictError = (key: string, expected: number | undefined, cause?: unknown): ConflictError =>
  new ConflictError(
    'version',
    expected === undefined
      ? `the state ${key} was saved by another process: it did not exist before`
      : `the state ${key} was saved or removed by another process: its number is no longer ${expected}`,
    { cause },
  );
