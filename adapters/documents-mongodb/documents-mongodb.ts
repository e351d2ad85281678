/** Documents in MongoDB, a replica set, for a cluster. */
import {
  type ClientSession,
  MongoClient,
  type Collection as MongoCollection,
  type Filter as MongoFilter,
} from 'mongodb';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import {
  type Change,
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type Documents,
  type Feed,
  type Filter,
  type FindOptions,
  type Page,
  type Stored,
  type TenantDocuments,
  type ValueCount,
} from '../../schemas/ports/documents.ts';
import { changed, checkedName, checkedTenant, documentOf, type Fields, formOf, idOf } from '../documents-form.ts';
import {
  afterPlace,
  countedField,
  cursorOf,
  defaultLimit,
  orderOf,
  placeOf,
  placeOfCursor,
} from '../documents-query.ts';
import { limited, TransactionRun, TransactionScope, transactionLimitMs } from '../documents-transaction.ts';
import { isTransient, translated } from './errors.ts';
import { MongoFeed } from './feed.ts';
import {
  type DocumentKey,
  entryOf,
  filterOf,
  filterWithin,
  indexesOf,
  isOurs,
  type MongoRecord,
  pathOf,
  recordOf,
} from './form.ts';

type Definition = CollectionDefinition<object>;
type Records = MongoCollection<MongoRecord>;

/** How long an operation and the work of a transaction may take, before they reject with `UnavailableError`. */
interface Limits {
  readonly operationMs: number;
  readonly transactionMs: number;
}
const defaultLimits: Limits = { operationMs: 5000, transactionMs: transactionLimitMs };

/** How a collection's operations run: directly, or in a transaction's session. */
interface Access {
  readonly session?: ClientSession;
  /** What every operation is bounded by. */
  readonly limitMs: number;
  read<Result>(operation: () => Promise<Result>): Promise<Result>;
  write<Result>(operation: () => Promise<Result>): Promise<Result>;
}

/** The driver's filter type has only the record's declared paths. */
const asFilter = (filter: Filter): MongoFilter<MongoRecord> => filter as MongoFilter<MongoRecord>;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const listPage = async (
  records: Records,
  tenant: string,
  options: FindOptions,
  session: ClientSession | undefined,
): Promise<Page<Fields & Stored>> => {
  const { filter = {}, limit = defaultLimit } = options;
  const order = orderOf(options.sort);
  const filters = [filterOf(filter)];
  if (options.after !== undefined) filters.push(afterPlace(placeOfCursor(options.after, order), order, pathOf));
  const found = await records
    .find(asFilter(filterWithin(tenant, ...filters)), { ...(session && { session }) })
    .sort(new Map(order.map(([path, direction]) => [pathOf(path), direction])))
    .limit(limit + 1)
    .toArray();
  const documents = found.map((record) => documentOf(entryOf(record)));
  const items = documents.slice(0, limit);
  // Every item's place is taken, so that a list or object under the sort fails on every page and not on some.
  const last = items.map((item) => placeOf(item, order)).at(-1);
  return { items, nextCursor: documents.length > limit && last !== undefined ? cursorOf(last, order) : null };
};

const countsIn = async (
  records: Records,
  tenant: string,
  field: string,
  { filter = {}, limit = defaultLimit }: Pick<FindOptions, 'filter' | 'limit'>,
  session: ClientSession | undefined,
): Promise<readonly ValueCount[]> => {
  const path = `$${pathOf(field)}`;
  // A set, so that a value that stands twice in a list counts once.
  const values = { $setUnion: [{ $cond: [{ $isArray: path }, path, [path]] }, []] };
  const found = records.aggregate<{ readonly _id: ValueCount['value']; readonly count: number }>(
    [
      { $match: filterWithin(tenant, filterOf(filter)) },
      { $project: { _id: 0, value: values } },
      { $unwind: '$value' },
      { $match: { value: { $type: ['string', 'number', 'bool'] } } },
      { $group: { _id: '$value', count: { $sum: 1 } } },
      { $sort: { count: -1 } },
      { $limit: limit },
    ],
    { ...(session && { session }) },
  );
  return (await found.toArray()).map(({ _id: value, count }) => ({ value, count }));
};

/** Replaces a document whose version was just read. Undefined when another write came between. */
const replaceOnce = async (
  records: Records,
  key: DocumentKey,
  version: number | undefined,
  next: (before: Fields) => object,
  now: string,
  session: ClientSession | undefined,
): Promise<(Fields & Stored) | undefined> => {
  const options = { ...(session && { session }) };
  const found = await records.findOne({ _id: key }, options);
  if (found === null) throw new ConflictError('version', `there is no document ${key.id}`);
  if (version !== undefined && found.version !== version)
    throw new ConflictError('version', `document ${key.id} is at version ${found.version}, not ${version}`);
  const before = entryOf(found);
  const form = formOf(next(before.fields));
  const entry = { ...before, version: before.version + 1, updatedAt: now };
  const { _id, ...record } = recordOf(key.tenant, entry, form);
  const { matchedCount } = await records.replaceOne({ _id: key, version: before.version }, record, options);
  return matchedCount === 1 ? documentOf({ ...entry, fields: form.fields }) : undefined;
};

const deleteOnce = async (
  records: Records,
  key: DocumentKey,
  version: number | undefined,
  session: ClientSession | undefined,
): Promise<boolean> => {
  const options = { ...(session && { session }) };
  const filter = version === undefined ? { _id: key } : { _id: key, version };
  const { deletedCount } = await records.deleteOne(filter, options);
  if (deletedCount === 0 && version !== undefined)
    throw new ConflictError('version', `document ${key.id} is not at version ${version}, or gone`);
  return deletedCount === 1;
};

const collectionOf = (access: Access, records: Records, tenant: string, clock: Clock): Collection<object> => {
  const { session, limitMs } = access;
  const keyOf = (id: string): DocumentKey => ({ tenant, id });
  const now = (): string => new Date(clock.now()).toISOString();
  const rewrite = (id: string, version: number | undefined, next: (before: Fields) => object) =>
    access.write(async () => {
      const deadline = performance.now() + limitMs;
      for (let tries = 1; performance.now() < deadline; tries += 1) {
        const document = await replaceOnce(records, keyOf(id), version, next, now(), session);
        if (document !== undefined) return document;
        // Another write came first. Without a version to keep, this one goes on top of it.
        await pause(Math.random() * Math.min(tries * 5, 50));
      }
      throw new UnavailableError(`document ${id} is written by too many at once`);
    });
  return {
    insert: (given) =>
      access.write(async () => {
        const form = formOf(given);
        const at = now();
        const entry = { id: idOf((given as { id?: string }).id), version: 1, createdAt: at, updatedAt: at };
        await records.insertOne(recordOf(tenant, entry, form), { ...(session && { session }) });
        return documentOf({ ...entry, fields: form.fields });
      }),
    find: (id) =>
      access.read(async () => {
        const record = await records.findOne({ _id: keyOf(id) }, { ...(session && { session }) });
        return record === null ? undefined : documentOf(entryOf(record));
      }),
    list: (options = {}) => access.read(() => listPage(records, tenant, options, session)),
    count: (filter = {}) =>
      access.read(() =>
        records.countDocuments(asFilter(filterWithin(tenant, filterOf(filter))), { ...(session && { session }) }),
      ),
    counts: (field, options = {}) =>
      access.read(() => countsIn(records, tenant, countedField(field), options, session)),
    replace: (id, fields, version) => rewrite(id, version, () => fields),
    update: (id, changes, version) => rewrite(id, version, (before) => changed(before, changes)),
    delete: (id, version) => access.write(() => deleteOnce(records, keyOf(id), version, session)),
  };
};

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

  /** After a first connection that failed, the driver makes another one only when it is told to. */
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
        // The cast carries the caller's type over stored JSON, which the store does not look into.
        collectionOf(access, this.#records(definition), tenantId, this.#clock) as unknown as Collection<Of>,
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
        const wanted = indexesOf(definition);
        await records.createIndexes([...wanted]);
        const names = new Set(wanted.map(({ name }) => name));
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
        // The driver must see its own error to know that the work is to be run again, whatever the work made of it.
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
      // Aborting at a server that is gone takes the driver a while: no caller waits for it.
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

/** The database named in the URL's path. */
const databaseOf = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?/]+)/.exec(url)?.[1] ?? 'oiq';

/**
 * Documents of the replica set at `url`, whose path names the database (default `oiq`). It is connected to by the first use, so that
 * one that is away is reported there; a URL that is none is refused here. While MongoDB is gone everything rejects
 * with `UnavailableError` within 5 seconds (a transaction within 10), or within other `limits`; it is found again without a restart.
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
