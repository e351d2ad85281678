/**
 * The change feed of one collection: a snapshot at cluster time T, then the change stream from just after T. Every
 * write of the store is an insert, a replacement or a deletion, so each event contains the document as of that write. A
 * later lookup would skip versions. After a lost connection the feed resumes after the last event. If the server no
 * longer has that position, the feed compares a new snapshot with the reported versions.
 */
import type { ChangeStream, ChangeStreamDocument, Collection, MongoClient, ResumeToken } from 'mongodb';
import { Timestamp } from 'mongodb';
import type { DocumentChange, Feed } from '../../schemas/ports/documents.ts';
import { toDocument } from '../document-encoding.ts';
import { withTimeLimit } from '../documents-transaction.ts';
import { type DocumentKey, type MongoRecord, toEntry } from './encoding.ts';
import { isExistingCollection, isHistoryLost, isSnapshotUnavailable } from './errors.ts';

/** Interval of the responses of an idle stream, which determine the freshness of the feed. */
const maxAwaitMs = 500;
const batchSize = 1000;
const maxSnapshotAttempts = 50;

type Position = { readonly startAtOperationTime: Timestamp } | { readonly resumeAfter: ResumeToken };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const toKeyText = ({ tenant, id }: DocumentKey): string => `${tenant}\0${id}`;

export class MongoFeed implements Feed {
  readonly #client: MongoClient;
  readonly #collection: Collection<MongoRecord>;
  readonly #onChange: (change: DocumentChange<object>) => void;
  /** Versions of all reported documents, so that a second snapshot reports differences only. */
  readonly #reportedVersions = new Map<string, { readonly key: DocumentKey; readonly version: number }>();
  #position: Position | undefined;
  #completeUntilMs = 0;
  #isClosed = false;
  #isBroken = false;
  #stream: ChangeStream<MongoRecord> | undefined;
  #loop: Promise<void> = Promise.resolve();

  /** `collection` must have no read concern of its own, which would override that of the snapshot. */
  constructor(
    client: MongoClient,
    collection: Collection<MongoRecord>,
    onChange: (change: DocumentChange<object>) => void,
  ) {
    this.#client = client;
    this.#collection = collection;
    this.#onChange = onChange;
  }

  /** Resolves once every document of the snapshot is reported. */
  async start(): Promise<void> {
    await this.#readSnapshot();
    this.#loop = this.#run();
  }

  getStaleMs(): number {
    return this.#isBroken ? Number.POSITIVE_INFINITY : performance.now() - this.#completeUntilMs;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stream?.close().catch(() => undefined);
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && !this.#isBroken) {
      try {
        if (this.#position === undefined) await this.#readSnapshot();
        await this.#consume();
      } catch (error) {
        if (isHistoryLost(error)) this.#position = undefined;
        if (!this.#isClosed) await pause(100);
      }
    }
  }

  async #readSnapshot(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        if (await this.#tryReadSnapshot()) return;
      } catch (error) {
        if (!isSnapshotUnavailable(error) || tries === maxSnapshotAttempts) throw error;
        await pause(100);
      }
    }
  }

  /** Returns false if the collection did not exist; the method then creates it, because only an existing collection has a cluster time. */
  async #tryReadSnapshot(): Promise<boolean> {
    const session = this.#client.startSession({ snapshot: true });
    const missingDocuments = new Map(this.#reportedVersions);
    const startedAt = performance.now();
    try {
      for await (const record of this.#collection.find({}, { session, batchSize })) {
        missingDocuments.delete(toKeyText(record._id));
        this.#emitStored(record);
      }
      // The driver stores the time of the snapshot in the session, but does not declare it.
      const time: unknown = Reflect.get(session, 'snapshotTime');
      if (!(time instanceof Timestamp)) {
        await this.#createCollection();
        return false;
      }
      for (const { key } of missingDocuments.values()) this.#emitDeleted(key);
      this.#position = { startAtOperationTime: new Timestamp({ t: time.t, i: time.i + 1 }) };
      this.#completeUntilMs = startedAt;
      return true;
    } finally {
      await session.endSession();
    }
  }

  async #createCollection(): Promise<void> {
    try {
      await this.#client.db(this.#collection.dbName).createCollection(this.#collection.collectionName);
    } catch (error) {
      if (!isExistingCollection(error)) throw error;
    }
  }

  async #consume(): Promise<void> {
    const stream = this.#collection.watch<MongoRecord>([], {
      ...this.#position,
      batchSize,
      maxAwaitTimeMS: maxAwaitMs,
      // Only for updates from outside the store.
      fullDocument: 'updateLookup',
    });
    this.#stream = stream;
    try {
      let startedAt = 0;
      let receivedCount = 0;
      while (!this.#isClosed && this.#position !== undefined) {
        if (stream.bufferedCount() === 0) {
          startedAt = performance.now();
          receivedCount = 0;
        }
        const event = await withTimeLimit(5000, 'the change stream', stream.tryNext());
        if (event !== null) {
          receivedCount += 1;
          this.#apply(event);
        }
        if (this.#position === undefined || this.#isBroken) return;
        if (stream.resumeToken) this.#position = { resumeAfter: stream.resumeToken };
        // The response contained everything from before the request, unless it was truncated.
        if (stream.bufferedCount() === 0 && receivedCount < batchSize) this.#completeUntilMs = startedAt;
      }
    } finally {
      this.#stream = undefined;
      await stream.close().catch(() => undefined);
    }
  }

  #apply(event: ChangeStreamDocument<MongoRecord>): void {
    switch (event.operationType) {
      case 'insert':
      case 'replace':
      case 'update':
        // If an update's lookup finds no document, its deletion follows in the stream.
        if (event.fullDocument) this.#emitStored(event.fullDocument);
        return;
      case 'delete':
        this.#emitDeleted(event.documentKey._id);
        return;
      case 'drop':
      case 'rename':
      case 'dropDatabase':
      case 'invalidate':
        this.#position = undefined;
        return;
      default:
    }
  }

  #emitStored(record: MongoRecord): void {
    const entry = toEntry(record);
    const key = toKeyText(record._id);
    if (this.#reportedVersions.get(key)?.version === entry.version) return;
    this.#reportedVersions.set(key, { key: record._id, version: entry.version });
    this.#report({ tenantId: record._id.tenant, id: entry.id, document: toDocument(entry) });
  }

  #emitDeleted(key: DocumentKey): void {
    if (this.#reportedVersions.delete(toKeyText(key)))
      this.#report({ tenantId: key.tenant, id: key.id, document: undefined });
  }

  #report(change: DocumentChange<object>): void {
    try {
      this.#onChange(change);
    } catch (error) {
      // A follower that missed a change is stale from now on.
      this.#isBroken = true;
      throw error;
    }
  }
}
