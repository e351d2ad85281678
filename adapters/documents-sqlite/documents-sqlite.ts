/**
 * Documents in one SQLite file, for the embedded mode. One connection writes and one reads: a transaction that pauses
 * hides its writes from readers and blocks other writers.
 */
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { runEvery } from '../../runtime/interval.ts';
import { createTimeSlicer } from '../../runtime/time-slices.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import type {
  Collection,
  CollectionDefinition,
  DocumentChange,
  Documents,
  Feed,
  Filter,
  StoredMetadata,
  TenantDocuments,
} from '../../schemas/ports/documents.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { type Fields, toDocument, validateCollectionName, validateTenantId } from '../document-encoding.ts';
import { TransactionRun, TransactionScope, transactionLimitMs, withTimeLimit } from '../documents-transaction.ts';
import { openSqlite, toDamageError } from '../sqlite-opening.ts';
import { type Access, createCollection, type DocumentWrite } from './collection.ts';
import { createMatcher } from './matches.ts';
import { type DeletedBytesOptions, emptyWriteAheadLog, removeDeletedBytes } from './secure-delete.ts';
import { DocumentTables, schema } from './tables.ts';

type Definition = CollectionDefinition<object>;

interface Follower {
  readonly collection: string;
  notify(change: DocumentChange<object>): void;
}

/** The disk is full, busy, read-only or unreadable: a failure of the disk, not of the caller. */
const diskErrorCodes: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

const remedy =
  'Stop oiq and restore the file from a backup. Without one, move it away (its -wal and -shm files too) and start with OIQ_NEW_INSTALLATION=true: telemetry stays; accounts, license keys and settings are lost';

const toPortError = (error: unknown, path: string): unknown => {
  const { errcode, code, message } = error as { errcode?: number; code?: string; message?: string };
  if (errcode !== undefined && diskErrorCodes.has(errcode & 0xff))
    return new UnavailableError(`documents cannot be read or written: ${message}`, { cause: error });
  if (code === 'ERR_INVALID_STATE' && message?.includes('not open'))
    return new UnavailableError('documents are closed', { cause: error });
  return toDamageError(path, remedy, error) ?? error;
};

/** Interval for emptying the write-ahead log, which contains earlier states of changed pages. */
const checkpointEveryMs = 60_000;

class SqliteDocuments implements Documents {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #writeConnection: DatabaseSync;
  readonly #readConnection: DatabaseSync;
  readonly #writeTables: DocumentTables;
  readonly #readTables: DocumentTables;
  readonly #scope = new TransactionScope();
  readonly #followers = new Set<Follower>();
  /** Definitions whose indexes are up to date in the committed state of the file. */
  readonly #ensuredDefinitions = new Set<Definition>();
  /** Definitions whose indexes the open transaction has updated. */
  #ensuredInTransaction: Definition[] = [];
  #lastWrite: Promise<unknown> = Promise.resolve();
  #hasWritten = false;
  readonly #stopCheckpoints: () => void;

  constructor({ path, clock, log, getFreeBytes }: DeletedBytesOptions & { readonly clock: Clock }) {
    this.#path = path;
    this.#clock = clock;
    this.#writeConnection = new DatabaseSync(path, { timeout: 5000 });
    // The file contains password hashes.
    chmodSync(path, 0o600);
    // Deleted values are overwritten: they would otherwise stay in free space of the file, such as names of erased users.
    this.#writeConnection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;');
    removeDeletedBytes(this.#writeConnection, { path, log, getFreeBytes });
    this.#writeConnection.exec(schema);
    this.#readConnection = new DatabaseSync(path, { timeout: 5000, readOnly: true });
    this.#writeTables = new DocumentTables(this.#writeConnection, this.#ensuredDefinitions);
    this.#readTables = new DocumentTables(this.#readConnection, this.#ensuredDefinitions);
    this.#stopCheckpoints = runEvery(checkpointEveryMs, () => void this.#emptyWriteAheadLog());
  }

  /** Never rejects: the next run tries again. */
  async #emptyWriteAheadLog(): Promise<void> {
    if (!this.#hasWritten) return;
    this.#hasWritten = false;
    const isEmptied = await this.#runExclusively(() => emptyWriteAheadLog(this.#writeConnection)).catch(() => false);
    if (!isEmptied) this.#hasWritten = true;
  }

  /** Allows one writer at a time, in the order of calls. */
  #runExclusively<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#lastWrite.then(work);
    this.#lastWrite = result.catch(() => undefined);
    return result.catch((error: unknown) => {
      throw toPortError(error, this.#path);
    });
  }

  #commit(written: readonly DocumentWrite[]): void {
    this.#writeConnection.exec('COMMIT');
    this.#hasWritten = true;
    for (const definition of this.#ensuredInTransaction.splice(0)) this.#ensuredDefinitions.add(definition);
    // In the same tick of the event loop: followers get the change before any reader can see the commit.
    for (const { collection, tenantId, id, document } of written)
      for (const follower of this.#followers)
        if (follower.collection === collection)
          follower.notify({ tenantId, id, document: this.#parseDocument(document) });
  }

  #parseDocument(document: DocumentWrite['document']): (Fields & StoredMetadata) | undefined {
    return document === undefined
      ? undefined
      : toDocument({ ...document.row, fields: JSON.parse(document.text) as Fields });
  }

  #rollback(): void {
    this.#ensuredInTransaction = [];
    if (this.#writeConnection.isOpen && this.#writeConnection.isTransaction) this.#writeConnection.exec('ROLLBACK');
  }

  #runAtomically<Result>(operation: (writes: DocumentWrite[]) => Result): Result {
    const writes: DocumentWrite[] = [];
    this.#writeConnection.exec('BEGIN IMMEDIATE');
    try {
      const result = operation(writes);
      this.#commit(writes);
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  readonly #directAccess: Access = {
    read: async (operation) => {
      try {
        return operation(this.#readTables);
      } catch (error) {
        throw toPortError(error, this.#path);
      }
    },
    write: async (operation) => {
      this.#scope.rejectInside('a write');
      return this.#runExclusively(async () => {
        // SQLite answers synchronously: a caller that awaits write after write would block everything else.
        await yieldToEventLoop();
        return this.#runAtomically((writes) => operation(this.#writeTables, writes));
      });
    },
  };

  #createTenantDocuments(access: Access, tenantId: string): TenantDocuments {
    validateTenantId(tenantId);
    return {
      tenantId,
      collection: <Of extends object>(definition: CollectionDefinition<Of>): Collection<Of> => {
        validateCollectionName(definition.name);
        const accessWithIndexes: Access = {
          read: access.read,
          write: (operation) =>
            access.write((tables, writes) => {
              this.#ensureIndexes(definition);
              return operation(tables, writes);
            }),
        };
        // The cast applies the caller's type to stored JSON, which the store does not validate.
        return createCollection(accessWithIndexes, definition, tenantId, this.#clock) as unknown as Collection<Of>;
      },
    };
  }

  #ensureIndexes(definition: Definition): void {
    if (this.#ensuredDefinitions.has(definition) || this.#ensuredInTransaction.includes(definition)) return;
    this.#writeTables.ensure(definition);
    this.#ensuredInTransaction.push(definition);
  }

  forTenant(tenantId: string): TenantDocuments {
    return this.#createTenantDocuments(this.#directAccess, tenantId);
  }

  async ensureCollections(definitions: readonly Definition[]): Promise<void> {
    this.#scope.rejectInside('a change of collections');
    await this.#runExclusively(() => {
      for (const definition of definitions) {
        validateCollectionName(definition.name);
        this.#runAtomically(() => this.#ensureIndexes(definition));
      }
    });
  }

  async *findInAllTenants<Of extends object>(
    definition: CollectionDefinition<Of>,
    filter: Filter = {},
  ): AsyncIterable<Of & StoredMetadata & { readonly tenantId: string }> {
    const matches = createMatcher(filter);
    let after = { tenantId: '', id: '' };
    for (let isLastPage = false; !isLastPage; ) {
      const from = after;
      const page = await this.#directAccess.read((tables) => tables.page(definition, filter, from));
      for (const row of page.rows)
        if (matches(row)) yield { ...(toDocument(row) as Of & StoredMetadata), tenantId: row.tenantId };
      after = page.rows.at(-1) ?? after;
      isLastPage = page.isLast;
    }
  }

  async transaction<Result>(work: (transaction: Pick<Documents, 'forTenant'>) => Promise<Result>): Promise<Result> {
    this.#scope.rejectInside('a transaction');
    return this.#runExclusively(async () => {
      // As before a write: consecutive transactions must not block everything else.
      await yieldToEventLoop();
      const run = new TransactionRun();
      const writes: DocumentWrite[] = [];
      // SQLite responds synchronously: a long transaction would block everything else.
      const yieldIfDue = createTimeSlicer();
      const access: Access = {
        read: (operation) =>
          run.runOperation(async () => {
            await yieldIfDue();
            return operation(this.#writeTables);
          }),
        write: (operation) =>
          run.runOperation(async () => {
            await yieldIfDue();
            return operation(this.#writeTables, writes);
          }),
      };
      this.#writeConnection.exec('BEGIN IMMEDIATE');
      try {
        const pendingResult = this.#scope.enter(run, () =>
          work({ forTenant: (tenantId) => this.#createTenantDocuments(access, tenantId) }),
        );
        const result = await withTimeLimit(transactionLimitMs, 'the work of a transaction', pendingResult);
        this.#commit(writes);
        return result;
      } catch (error) {
        run.close();
        this.#rollback();
        throw error;
      }
    });
  }

  async follow<Of extends object>(
    definition: CollectionDefinition<Of>,
    onChange: (change: DocumentChange<Of>) => void,
  ): Promise<Feed> {
    let staleSince: number | undefined;
    const follower: Follower = {
      collection: validateCollectionName(definition.name),
      notify: (change) => {
        // A follower that throws has missed a change and is stale from now on; the write and other followers continue.
        if (staleSince !== undefined) return;
        try {
          onChange(change as DocumentChange<Of>);
        } catch {
          staleSince = Number.NEGATIVE_INFINITY;
        }
      },
    };
    await this.#directAccess.read((tables) => {
      let after = { tenantId: '', id: '' };
      for (let isLastPage = false; !isLastPage; ) {
        const page = tables.page(definition, {}, after);
        for (const row of page.rows)
          onChange({ tenantId: row.tenantId, id: row.id, document: toDocument(row) as Of & StoredMetadata });
        after = page.rows.at(-1) ?? after;
        isLastPage = page.isLast;
      }
      // Without a pause after the last page, no commit happens between it and the first change.
      this.#followers.add(follower);
    });
    return {
      getStaleMs: () => (staleSince === undefined ? 0 : performance.now() - staleSince),
      close: async () => {
        staleSince ??= performance.now();
        this.#followers.delete(follower);
      },
    };
  }

  async check(): Promise<void> {
    await this.#directAccess.read(() => this.#readConnection.prepare('SELECT 1').get());
  }

  async close(): Promise<void> {
    this.#stopCheckpoints();
    await this.#lastWrite;
    this.#followers.clear();
    if (this.#readConnection.isOpen) this.#readConnection.close();
    if (this.#writeConnection.isOpen) this.#writeConnection.close();
  }
}

export interface SqliteDocumentsOptions {
  readonly path: string;
  readonly clock?: Clock;
  /** Receives a warning if values that earlier versions deleted cannot be removed from the file */
  readonly log?: Log;
  /** Default: the free bytes of the volume of a directory */
  readonly getFreeBytes?: (directory: string) => number;
}

/** Opens the file at `path`, or creates it. Only one process at a time can open it. */
export const openSqliteDocuments = async ({
  path,
  clock = systemClock,
  log = silentLog,
  getFreeBytes,
}: SqliteDocumentsOptions): Promise<Documents> =>
  openSqlite(path, remedy, () => new SqliteDocuments({ path, clock, log, getFreeBytes }));
