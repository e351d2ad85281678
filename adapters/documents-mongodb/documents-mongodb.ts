/** Documents in MongoDB, on a replica set, for a cluster. */
import { MongoClient, type TopologyDescriptionChangedEvent } from 'mongodb';
import { createStoreMembers } from '../../runtime/store-members.ts';
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
import type { MemberWatch, StoreMember, StoreMembers } from '../../schemas/ports/store-members.ts';
import { toDocument, validateCollectionName, validateTenantId } from '../document-encoding.ts';
import { TransactionRun, TransactionScope, transactionLimitMs, withTimeLimit } from '../documents-transaction.ts';
import { type Access, createCollection, type Records, toMongoFilter } from './collection.ts';
import { buildIndexes, isOwnIndex, type MongoRecord, toEntry, toRecordFilter } from './encoding.ts';
import { isTransient, toPortError } from './errors.ts';
import { MongoFeed } from './feed.ts';

type Definition = CollectionDefinition<object>;

/** Time limits of an operation and of the work of a transaction, after which they reject with `UnavailableError`. */
interface Limits {
  readonly operationMs: number;
  readonly transactionMs: number;
}
const defaultLimits: Limits = { operationMs: 5000, transactionMs: transactionLimitMs };

type ServerDescription =
  TopologyDescriptionChangedEvent['newDescription']['servers'] extends Map<string, infer Server> ? Server : never;

/** The driver probes the servers itself, with retries. */
const toStoreMember = ({ address, type, error }: ServerDescription): StoreMember => ({
  name: address,
  minFailures: 1,
  async probe() {
    if (type === 'Unknown' && error !== null) throw error;
  },
});

class MongoDocuments implements Documents {
  readonly #client: MongoClient;
  readonly #database: string;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #directAccess: Access;
  readonly #scope = new TransactionScope();
  readonly #feeds = new Set<Feed>();
  readonly #watch: MemberWatch;
  #servers: ReadonlyMap<string, ServerDescription> = new Map();
  #isConnected = false;

  constructor(client: MongoClient, database: string, clock: Clock, limits: Limits, storeMembers: StoreMembers) {
    this.#client = client;
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      this.#servers = newDescription.servers;
    });
    this.#watch = storeMembers.watch('MongoDB', () => Array.from(this.#servers.values(), toStoreMember));
    this.#database = database;
    this.#clock = clock;
    this.#limits = limits;
    this.#directAccess = {
      limitMs: limits.operationMs,
      read: (operation) => this.#runWithTimeout(operation),
      write: async (operation) => {
        this.#scope.rejectInside('a write');
        return this.#runWithTimeout(operation);
      },
    };
  }

  #getCollection(definition: Definition): Records {
    return this.#client
      .db(this.#database)
      .collection<MongoRecord>(validateCollectionName(definition.name), { readConcern: { level: 'majority' } });
  }

  /** After a failed first connection, the driver does not reconnect by itself. */
  async #connect(): Promise<void> {
    if (this.#isConnected) return;
    await this.#client.connect();
    this.#isConnected = true;
  }

  async #runWithTimeout<Result>(operation: () => Promise<Result>): Promise<Result> {
    const work = async (): Promise<Result> => {
      await this.#connect();
      return operation();
    };
    try {
      return await withTimeLimit(this.#limits.operationMs, 'MongoDB', work());
    } catch (error) {
      throw toPortError(error);
    }
  }

  #createTenantDocuments(access: Access, tenantId: string): TenantDocuments {
    validateTenantId(tenantId);
    return {
      tenantId,
      collection: <Of extends object>(definition: CollectionDefinition<Of>): Collection<Of> =>
        // The cast applies the caller's type to stored JSON, which the store does not validate.
        createCollection(
          access,
          { definition, records: this.#getCollection(definition), tenant: tenantId },
          this.#clock,
        ) as unknown as Collection<Of>,
    };
  }

  forTenant(tenantId: string): TenantDocuments {
    return this.#createTenantDocuments(this.#directAccess, tenantId);
  }

  async ensureCollections(definitions: readonly Definition[]): Promise<void> {
    this.#scope.rejectInside('a change of collections');
    try {
      await this.#connect();
      for (const definition of definitions) {
        const records = this.#getCollection(definition);
        const requiredIndexes = buildIndexes(definition);
        await records.createIndexes([...requiredIndexes]);
        const names = new Set(requiredIndexes.map(({ name }) => name));
        for (const { name } of await records.indexes())
          if (name !== undefined && isOwnIndex(name) && !names.has(name)) await records.dropIndex(name);
      }
    } catch (error) {
      throw toPortError(error);
    }
  }

  async *findInAllTenants<Of extends object>(
    definition: CollectionDefinition<Of>,
    filter: Filter = {},
  ): AsyncIterable<Of & StoredMetadata & { readonly tenantId: string }> {
    const cursor = this.#getCollection(definition).find(toMongoFilter(toRecordFilter(filter)), { batchSize: 500 });
    try {
      for (;;) {
        const record = await this.#runWithTimeout(() => cursor.next());
        if (record === null) return;
        yield { ...(toDocument(toEntry(record)) as Of & StoredMetadata), tenantId: record._id.tenant };
      }
    } finally {
      await cursor.close().catch(() => undefined);
    }
  }

  async transaction<Result>(work: (transaction: Pick<Documents, 'forTenant'>) => Promise<Result>): Promise<Result> {
    this.#scope.rejectInside('a transaction');
    const session = this.#client.startSession();
    let transactionRun = new TransactionRun();
    const unreachable = Promise.withResolvers<never>();
    const attempt = async (): Promise<Result> => {
      transactionRun = new TransactionRun();
      let transientError: unknown;
      const runOperation = <Answer>(operation: () => Promise<Answer>): Promise<Answer> =>
        transactionRun.runOperation(async () => {
          try {
            return await this.#runWithTimeout(operation);
          } catch (error) {
            if (isTransient(error)) transientError = error;
            if (error instanceof UnavailableError) unreachable.reject(error);
            throw error;
          }
        });
      const access: Access = { session, limitMs: this.#limits.operationMs, read: runOperation, write: runOperation };
      try {
        return await this.#scope.enter(transactionRun, () =>
          work({ forTenant: (tenantId) => this.#createTenantDocuments(access, tenantId) }),
        );
      } catch (error) {
        // The driver must receive its own error to know that the work must run again, even if the work caught the
        // error.
        throw transientError ?? error;
      }
    };
    const transactionResult = session.withTransaction(attempt, {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
    });
    try {
      const resultOrUnreachable = Promise.race([transactionResult, unreachable.promise]);
      return await withTimeLimit(this.#limits.transactionMs, 'the work of a transaction', resultOrUnreachable);
    } catch (error) {
      throw toPortError(error);
    } finally {
      transactionRun.close();
      // Aborting on an unavailable server takes the driver a while; no caller waits for it.
      void transactionResult.catch(() => undefined).finally(() => session.endSession().catch(() => undefined));
    }
  }

  async follow<Of extends object>(
    definition: CollectionDefinition<Of>,
    onChange: (change: DocumentChange<Of>) => void,
  ): Promise<Feed> {
    const records = this.#client.db(this.#database).collection<MongoRecord>(validateCollectionName(definition.name));
    const feed = new MongoFeed(this.#client, records, (change) => onChange(change as DocumentChange<Of>));
    try {
      await this.#connect();
      await feed.start();
    } catch (error) {
      throw toPortError(error);
    }
    this.#feeds.add(feed);
    return {
      getStaleMs: () => feed.getStaleMs(),
      close: async () => {
        this.#feeds.delete(feed);
        await feed.close();
      },
    };
  }

  async check(): Promise<void> {
    await this.#runWithTimeout(() => this.#client.db(this.#database).command({ ping: 1 }));
  }

  async close(): Promise<void> {
    this.#watch.close();
    await Promise.all([...this.#feeds].map((feed) => feed.close()));
    await this.#client.close();
  }
}

/** The database name in the path of the URL. */
const parseDatabaseName = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?/]+)/.exec(url)?.[1] ?? 'oiq';

/**
 * Opens the documents of the replica set at `url`, whose path names the database (default `oiq`). The first use
 * connects, so it also reports an unavailable server; an invalid URL throws here. While MongoDB is unavailable,
 * everything rejects with `UnavailableError` within 5 seconds (a transaction within 10), or within other `limits`. The
 * client reconnects without a restart.
 */
export const openMongoDocuments = async ({
  url,
  clock = systemClock,
  limits = defaultLimits,
  storeMembers = createStoreMembers(),
}: {
  readonly url: string;
  readonly clock?: Clock;
  readonly limits?: Limits;
  /** Watches the servers of the replica set. */
  readonly storeMembers?: StoreMembers;
}): Promise<Documents> => {
  const client = new MongoClient(url, {
    appName: 'oiq',
    writeConcern: { w: 'majority' },
    serverSelectionTimeoutMS: 3000,
    connectTimeoutMS: 3000,
    heartbeatFrequencyMS: 1000,
  });
  return new MongoDocuments(client, parseDatabaseName(url), clock, limits, storeMembers);
};
