/** Documents in MongoDB, on a replica set, for a cluster. */
import { MongoClient } from 'mongodb';
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
import { checkedName, checkedTenant, documentOf } from '../document-encoding.ts';
import { limited, TransactionRun, TransactionScope, transactionLimitMs } from '../documents-transaction.ts';
import { type Access, asFilter, collectionOf, type Records } from './collection.ts';
import { entryOf, filterOf, indexesOf, isOurs, type MongoRecord } from './encoding.ts';
import { isTransient, translated } from './errors.ts';
import { MongoFeed } from './feed.ts';

type Definition = CollectionDefinition<object>;

/** Time limits of an operation and of the work of a transaction, after which they reject with `UnavailableError`. */
interface Limits {
  readonly operationMs: number;
  readonly transactionMs: number;
}
const defaultLimits: Limits = { operationMs: 5000, transactionMs: transactionLimitMs };

class MongoDocuments implements Documents {
  readonly #client: MongoClient;
  readonly #database: string;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #direct: Access;
  readonly #scope = new TransactionScope();
  readonly #feeds = new Set<Feed>();
  #isConnected = false;

  constructor(client: MongoClient, database: string, clock: Clock, limits: Limits) {
    this.#client = client;
    this.#database = database;
    this.#clock = clock;
    this.#limits = limits;
    this.#direct = {
      limitMs: limits.operationMs,
      read: (operation) => this.#bounded(operation),
      write: async (operation) => {
        this.#scope.refuseInside('a write');
        return this.#bounded(operation);
      },
    };
  }

  #records(definition: Definition): Records {
    return this.#client
      .db(this.#database)
      .collection<MongoRecord>(checkedName(definition.name), { readConcern: { level: 'majority' } });
  }

  /** After a failed first connection, the driver does not reconnect by itself. */
  async #connect(): Promise<void> {
    if (this.#isConnected) return;
    await this.#client.connect();
    this.#isConnected = true;
  }

  async #bounded<Result>(operation: () => Promise<Result>): Promise<Result> {
    const work = async (): Promise<Result> => {
      await this.#connect();
      return operation();
    };
    try {
      return await limited(this.#limits.operationMs, 'MongoDB', work());
    } catch (error) {
      throw translated(error);
    }
  }

  #tenant(access: Access, tenantId: string): TenantDocuments {
    checkedTenant(tenantId);
    return {
      tenantId,
      collection: <Of extends object>(definition: CollectionDefinition<Of>): Collection<Of> =>
        // The cast applies the caller's type to stored JSON, which the store does not validate.
        collectionOf(
          access,
          { definition, records: this.#records(definition), tenant: tenantId },
          this.#clock,
        ) as unknown as Collection<Of>,
    };
  }

  of(tenantId: string): TenantDocuments {
    return this.#tenant(this.#direct, tenantId);
  }

  async ensureCollections(definitions: readonly Definition[]): Promise<void> {
    this.#scope.refuseInside('a change of collections');
    try {
      await this.#connect();
      for (const definition of definitions) {
        const records = this.#records(definition);
        const requiredIndexes = indexesOf(definition);
        await records.createIndexes([...requiredIndexes]);
        const names = new Set(requiredIndexes.map(({ name }) => name));
        for (const { name } of await records.indexes())
          if (name !== undefined && isOurs(name) && !names.has(name)) await records.dropIndex(name);
      }
    } catch (error) {
      throw translated(error);
    }
  }

  async *everywhere<Of extends object>(
    definition: CollectionDefinition<Of>,
    filter: Filter = {},
  ): AsyncIterable<Of & Stored & { readonly tenantId: string }> {
    const cursor = this.#records(definition).find(asFilter(filterOf(filter)), { batchSize: 500 });
    try {
      for (;;) {
        const record = await this.#bounded(() => cursor.next());
        if (record === null) return;
        yield { ...(documentOf(entryOf(record)) as Of & Stored), tenantId: record._id.tenant };
      }
    } finally {
      await cursor.close().catch(() => undefined);
    }
  }

  async transaction<Result>(work: (transaction: Pick<Documents, 'of'>) => Promise<Result>): Promise<Result> {
    this.#scope.refuseInside('a transaction');
    const session = this.#client.startSession();
    let run = new TransactionRun();
    const unreachable = Promise.withResolvers<never>();
    const attempt = async (): Promise<Result> => {
      run = new TransactionRun();
      let transient: unknown;
      const operate = <Answer>(operation: () => Promise<Answer>): Promise<Answer> =>
        run.operate(async () => {
          try {
            return await this.#bounded(operation);
          } catch (error) {
            if (isTransient(error)) transient = error;
            if (error instanceof UnavailableError) unreachable.reject(error);
            throw error;
          }
        });
      const access: Access = { session, limitMs: this.#limits.operationMs, read: operate, write: operate };
      try {
        const result = await this.#scope.enter(run, () => work({ of: (tenantId) => this.#tenant(access, tenantId) }));
        await run.finish();
        return result;
      } catch (error) {
        run.close();
        // The driver must receive its own error to know that the work must run again, even if the work caught the
        // error.
        throw transient ?? error;
      }
    };
    const done = session.withTransaction(attempt, {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
    });
    try {
      const finished = Promise.race([done, unreachable.promise]);
      return await limited(this.#limits.transactionMs, 'the work of a transaction', finished);
    } catch (error) {
      throw translated(error);
    } finally {
      run.close();
      // Aborting on an unavailable server takes the driver a while; no caller waits for it.
      void done.catch(() => undefined).finally(() => session.endSession().catch(() => undefined));
    }
  }

  async follow<Of extends object>(
    definition: CollectionDefinition<Of>,
    onChange: (change: Change<Of>) => void,
  ): Promise<Feed> {
    const records = this.#client.db(this.#database).collection<MongoRecord>(checkedName(definition.name));
    const feed = new MongoFeed(this.#client, records, (change) => onChange(change as Change<Of>));
    try {
      await this.#connect();
      await feed.start();
    } catch (error) {
      throw translated(error);
    }
    this.#feeds.add(feed);
    return {
      staleMs: () => feed.staleMs(),
      close: async () => {
        this.#feeds.delete(feed);
        await feed.close();
      },
    };
  }

  async check(): Promise<void> {
    await this.#bounded(() => this.#client.db(this.#database).command({ ping: 1 }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#feeds].map((feed) => feed.close()));
    await this.#client.close();
  }
}

/** The database name in the path of the URL. */
const databaseOf = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?/]+)/.exec(url)?.[1] ?? 'oiq';

/**
 * Opens the documents of the replica set at `url`, whose path names the database (default `oiq`). The first use
 * connects, so it also reports an unavailable server; an invalid URL throws here. While MongoDB is unavailable,
 * everything rejects with `UnavailableError` within 5 seconds (a transaction within 10), or within other `limits`. It
 * reconnects without a restart.
 */
export const mongoDocuments = async ({
  url,
  clock = systemClock,
  limits = defaultLimits,
}: {
  readonly url: string;
  readonly clock?: Clock;
  readonly limits?: Limits;
}): Promise<Documents> => {
  const client = new MongoClient(url, {
    appName: 'oiq',
    writeConcern: { w: 'majority' },
    serverSelectionTimeoutMS: 3000,
    connectTimeoutMS: 3000,
    heartbeatFrequencyMS: 2000,
  });
  return new MongoDocuments(client, databaseOf(url), clock, limits);
};
