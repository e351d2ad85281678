/**
 * Documents in one SQLite file, for the embedded mode. One connection writes and one reads: a transaction that pauses
 * hides its writes from readers and blocks other writers.
 */
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import type {
  Change,
  Collection,
  CollectionDefinition,
  Documents,
  Feed,
  Filter,
  Stored,
  TenantDocuments,
} from '../../schemas/ports/documents.ts';
import { checkedName, checkedTenant, documentOf, type Fields } from '../document-encoding.ts';
import { limited, TransactionRun, TransactionScope, transactionLimitMs } from '../documents-transaction.ts';
import { damageOf, openingSqlite } from '../sqlite-opening.ts';
import { type Access, collectionOf, type Written } from './collection.ts';
import { matcherOf } from './matches.ts';
import { DocumentTables, schema } from './tables.ts';

type Definition = CollectionDefinition<object>;

interface Follower {
  readonly collection: string;
  notify(change: Change<object>): void;
}

/** Full, busy, read-only or unreadable: a problem of the disk, not of the caller. */
const diskCodes: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

const remedy =
  'Stop oiq and restore the file from a backup. Without one, move it away (its -wal and -shm files too) and start with OIQ_NEW_INSTALLATION=true: telemetry stays; accounts, license keys and settings are lost';

const translated = (error: unknown, path: string): unknown => {
  const { errcode, code, message } = error as { errcode?: number; code?: string; message?: string };
  if (errcode !== undefined && diskCodes.has(errcode & 0xff))
    return new UnavailableError(`documents cannot be read or written: ${message}`, { cause: error });
  if (code === 'ERR_INVALID_STATE' && message?.includes('not open'))
    return new UnavailableError('documents are closed', { cause: error });
  return damageOf(path, remedy, error) ?? error;
};

class SqliteDocuments implements Documents {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #writer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #written: DocumentTables;
  readonly #committed: DocumentTables;
  readonly #scope = new TransactionScope();
  readonly #followers = new Set<Follower>();
  /** Definitions whose indexes are up to date in the committed state of the file. */
  readonly #ensured = new Set<Definition>();
  /** The same for the open transaction. */
  #ensuring: Definition[] = [];
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    this.#writer = new DatabaseSync(path, { timeout: 5000 });
    // The file holds password hashes.
    chmodSync(path, 0o600);
    this.#writer.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    this.#writer.exec(schema);
    this.#reader = new DatabaseSync(path, { timeout: 5000, readOnly: true });
    this.#written = new DocumentTables(this.#writer, this.#ensured);
    this.#committed = new DocumentTables(this.#reader, this.#ensured);
  }

  /** Allows one writer at a time, in the order of calls. */
  #exclusively<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#lastWrite.then(work);
    this.#lastWrite = result.catch(() => undefined);
    return result.catch((error: unknown) => {
      throw translated(error, this.#path);
    });
  }

  #commit(written: readonly Written[]): void {
    this.#writer.exec('COMMIT');
    for (const definition of this.#ensuring.splice(0)) this.#ensured.add(definition);
    // In the same tick of the event loop: followers get the change before any reader can see the commit.
    for (const { collection, tenantId, id, document } of written)
      for (const follower of this.#followers)
        if (follower.collection === collection) follower.notify({ tenantId, id, document: this.#freshly(document) });
  }

  #freshly(document: Written['document']): (Fields & Stored) | undefined {
    return document === undefined
      ? undefined
      : documentOf({ ...document.row, fields: JSON.parse(document.text) as Fields });
  }

  #rollback(): void {
    this.#ensuring = [];
    if (this.#writer.isOpen && this.#writer.isTransaction) this.#writer.exec('ROLLBACK');
  }

  #atomically<Result>(operation: (written: Written[]) => Result): Result {
    const written: Written[] = [];
    this.#writer.exec('BEGIN IMMEDIATE');
    try {
      const result = operation(written);
      this.#commit(written);
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  readonly #direct: Access = {
    read: async (operation) => {
      try {
        return operation(this.#committed);
      } catch (error) {
        throw translated(error, this.#path);
      }
    },
    write: async (operation) => {
      this.#scope.refuseInside('a write');
      return this.#exclusively(async () => {
        // SQLite answers synchronously: a caller that awaits write after write would block everything else.
        await yieldToEventLoop();
        return this.#atomically((written) => operation(this.#written, written));
      });
    },
  };

  #tenant(access: Access, tenantId: string): TenantDocuments {
    checkedTenant(tenantId);
    return {
      tenantId,
      collection: <Of extends object>(definition: CollectionDefinition<Of>): Collection<Of> => {
        checkedName(definition.name);
        const ensuring: Access = {
          read: access.read,
          write: (operation) =>
            access.write((tables, written) => {
              this.#ensure(definition);
              return operation(tables, written);
            }),
        };
        // The cast applies the caller's type to stored JSON, which the store does not validate.
        return collectionOf(ensuring, definition, tenantId, this.#clock) as unknown as Collection<Of>;
      },
    };
  }

  #ensure(definition: Definition): void {
    if (this.#ensured.has(definition) || this.#ensuring.includes(definition)) return;
    this.#written.ensure(definition);
    this.#ensuring.push(definition);
  }

  of(tenantId: string): TenantDocuments {
    return this.#tenant(this.#direct, tenantId);
  }

  async ensureCollections(definitions: readonly Definition[]): Promise<void> {
    this.#scope.refuseInside('a change of collections');
    await this.#exclusively(() => {
      for (const definition of definitions) {
        checkedName(definition.name);
        this.#atomically(() => this.#ensure(definition));
      }
    });
  }

  async *everywhere<Of extends object>(
    definition: CollectionDefinition<Of>,
    filter: Filter = {},
  ): AsyncIterable<Of & Stored & { readonly tenantId: string }> {
    const matches = matcherOf(filter);
    let after = { tenantId: '', id: '' };
    for (let last = false; !last; ) {
      const from = after;
      const page = await this.#direct.read((tables) => tables.page(definition, filter, from));
      for (const row of page.rows)
        if (matches(row)) yield { ...(documentOf(row) as Of & Stored), tenantId: row.tenantId };
      after = page.rows.at(-1) ?? after;
      last = page.last;
    }
  }

  async transaction<Result>(work: (transaction: Pick<Documents, 'of'>) => Promise<Result>): Promise<Result> {
    this.#scope.refuseInside('a transaction');
    return this.#exclusively(async () => {
      // As before a write: consecutive transactions must not block everything else.
      await yieldToEventLoop();
      const run = new TransactionRun();
      const written: Written[] = [];
      const access: Access = {
        read: (operation) => run.operate(() => operation(this.#written)),
        write: (operation) => run.operate(() => operation(this.#written, written)),
      };
      this.#writer.exec('BEGIN IMMEDIATE');
      try {
        const working = this.#scope.enter(run, () => work({ of: (tenantId) => this.#tenant(access, tenantId) }));
        const result = await limited(transactionLimitMs, 'the work of a transaction', working);
        await run.finish();
        this.#commit(written);
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
    onChange: (change: Change<Of>) => void,
  ): Promise<Feed> {
    let staleSince: number | undefined;
    const follower: Follower = {
      collection: checkedName(definition.name),
      notify: (change) => {
        // A follower that throws has missed a change and is stale from now on; the write and other followers continue.
        if (staleSince !== undefined) return;
        try {
          onChange(change as Change<Of>);
        } catch {
          staleSince = Number.NEGATIVE_INFINITY;
        }
      },
    };
    await this.#direct.read((tables) => {
      let after = { tenantId: '', id: '' };
      for (let last = false; !last; ) {
        const page = tables.page(definition, {}, after);
        for (const row of page.rows)
          onChange({ tenantId: row.tenantId, id: row.id, document: documentOf(row) as Of & Stored });
        after = page.rows.at(-1) ?? after;
        last = page.last;
      }
      // Without a pause after the last page, no commit happens between it and the first change.
      this.#followers.add(follower);
    });
    return {
      staleMs: () => (staleSince === undefined ? 0 : performance.now() - staleSince),
      close: async () => {
        staleSince ??= performance.now();
        this.#followers.delete(follower);
      },
    };
  }

  async check(): Promise<void> {
    await this.#direct.read(() => this.#reader.prepare('SELECT 1').get());
  }

  async close(): Promise<void> {
    await this.#lastWrite;
    this.#followers.clear();
    if (this.#reader.isOpen) this.#reader.close();
    if (this.#writer.isOpen) this.#writer.close();
  }
}

/** Opens the file at `path`, or creates it. Only one process at a time can open it. */
export const sqliteDocuments = async ({
  path,
  clock = systemClock,
}: {
  readonly path: string;
  readonly clock?: Clock;
}): Promise<Documents> => openingSqlite(path, remedy, () => new SqliteDocuments(path, clock));
