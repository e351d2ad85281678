import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { MongoClient } from 'mongodb';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import {
  buildContainsFilter,
  type Collection,
  ConflictError,
  type DocumentChange,
  type Documents,
  defineCollection,
} from '../../schemas/ports/documents.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { freePorts } from '../services/ports.ts';
import { startService, startServices, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { documentsContract } from './documents.ts';

interface TestDocument {
  readonly n: number;
}

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else suites();

function suites(): void {
  const name = `oiq-documents-${process.pid}-${Date.now()}`;
  const within = (url: string): string => url.replace('/?', `/${name}?`);
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  const stores: Documents[] = [];
  const open = async (): Promise<Documents> => {
    const documents = await openPatientDocuments(within(await urls));
    stores.push(documents);
    return documents;
  };
  const raw = async <Result>(work: (client: MongoClient) => Promise<Result>): Promise<Result> => {
    const client = await new MongoClient(await urls).connect();
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  test.after.always(async () => {
    // Stores of failed tests are still open, and would keep the process running.
    for (const documents of stores) await documents.close();
    await raw((client) => client.db(name).dropDatabase());
  });

  const firstUse = async (url: string): Promise<void> => {
    const documents = await openMongoDocuments({ url });
    try {
      await documents.check();
    } finally {
      await documents.close();
    }
  };

  documentsContract('mongodb', open);

  const opened = async (collection: string) => {
    const definition = defineCollection<TestDocument>({ name: collection, unique: [['n']] });
    const one = await open();
    await one.ensureCollections([definition]);
    return { definition, one, other: await open() };
  };

  test.serial('mongodb: every change by one instance reaches the followers of another', async (t) => {
    const { definition, one, other } = await opened('instances');
    const changes: DocumentChange<TestDocument>[] = [];
    await other.follow(definition, (change) => changes.push(change));
    for (let n = 0; n < 20; n += 1) {
      const { id } = await one.forTenant('a').collection(definition).insert({ n });
      await eventually('the change is told', () => changes.at(-1)?.id === id);
    }
    t.is(changes.length, 20);
    await Promise.all([one.close(), other.close()]);
  });

  test.serial('mongodb: a feed is fresh under a steady stream of changes that never leaves it idle', async (t) => {
    const { definition, one, other } = await opened('steady');
    let changeCount = 0;
    const feed = await other.follow(definition, () => {
      changeCount += 1;
    });
    const collection = one.forTenant('a').collection(definition);
    const begun = performance.now();
    // A feed that is refreshed only while idle would be stale for the whole stream of changes.
    const isFresh = (): boolean => changeCount > 20 && feed.getStaleMs() < (performance.now() - begun) / 2;
    for (let n = 0; n < 5_000 && (n < 200 || !isFresh()); n += 1) {
      await collection.insert({ n });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    t.true(isFresh());
    await Promise.all([one.close(), other.close()]);
  });

  test.serial('mongodb: the index declared for a filter or a sort order is the index used', async (t) => {
    const definition = defineCollection<{ state: string; mail: string }>({
      name: 'planned',
      indexes: [['state']],
      sorts: ['state', 'createdAt'],
      uniqueEverywhere: [['mail']],
    });
    const documents = await open();
    await documents.ensureCollections([definition]);
    const collection = documents.forTenant('a').collection(definition);
    for (let n = 0; n < 200; n += 1) await collection.insert({ state: `${n % 50}`, mail: `${n}` });
    await raw(async (client) => {
      const planned = client.db(name).collection('planned');
      for (const [filter, examined] of [
        [{ '_id.tenant': 'a', 'fields.state': '7' }, 4],
        [{ 'fields.mail': '7' }, 1],
      ] as [Record<string, string>, number][]) {
        const { executionStats } = await planned.find(filter).explain('executionStats');
        t.is(executionStats.totalDocsExamined, examined);
      }
      for (const field of ['fields.state', 'createdAt'])
        for (const direction of [1, -1] as const) {
          const sorted = planned.find({ '_id.tenant': 'a' }).sort([
            [field, direction],
            ['_id.id', 1],
          ]);
          const { executionStats } = await sorted.limit(5).explain('executionStats');
          t.is(executionStats.totalDocsExamined, 5, `${field} ${direction}`);
        }
    });
    const search = { filter: { mail: buildContainsFilter('19') }, sort: { state: -1 } } as const;
    await raw(async (client) => {
      await client.db(name).command({ profile: 2 });
      t.is((await collection.list(search)).items.length, 12);
      await client.db(name).command({ profile: 0 });
      const [done] = await client.db(name).collection('system.profile').find({ op: 'query' }).toArray();
      t.deepEqual(done?.['command'].hint, { '_id.tenant': 1, 'fields.state': -1, '_id.id': 1 });
      t.is(done?.['planSummary'], 'IXSCAN { _id.tenant: 1, fields.state: -1, _id.id: 1 }');
    });
    // Indexes that are not created, as if another version had declared them.
    const later = documents.forTenant('a').collection({ ...definition, name: 'not-planned' });
    await later.insert({ state: '1', mail: '190' });
    t.is((await later.list(search)).items.length, 1);
    t.deepEqual(await later.countValues(['state'], search), [[{ value: '1', count: 1 }]]);
    await documents.close();
  });

  test.serial(
    'mongodb: an update from outside the platform is delivered with the document’s state at that time',
    async (t) => {
      const { definition, one, other } = await opened('by-hand');
      const changes: DocumentChange<TestDocument>[] = [];
      await other.follow(definition, (change) => changes.push(change));
      await one.forTenant('a').collection(definition).insert({ id: 'x', n: 1 });
      await raw((client) =>
        client
          .db(name)
          .collection<{ fields: TestDocument; version: number }>('by-hand')
          .updateOne({}, [{ $set: { 'fields.n': 2, version: 2 } }]),
      );
      await eventually('the change is told', () => changes.at(-1)?.document?.n === 2);
      await Promise.all([one.close(), other.close()]);
      t.pass();
    },
  );

  test.serial('mongodb: a collection dropped while it is followed is delivered as deletions', async (t) => {
    const { definition, one, other } = await opened('dropped');
    const changes: DocumentChange<TestDocument>[] = [];
    const collection = one.forTenant('a').collection(definition);
    await collection.insert({ id: 'x', n: 1 });
    await other.follow(definition, (change) => changes.push(change));
    await raw((client) => client.db(name).dropCollection('dropped'));
    await eventually(
      'the deletion is told',
      () => changes.at(-1)?.id === 'x' && changes.at(-1)?.document === undefined,
    );
    await collection.insert({ id: 'y', n: 2 });
    await eventually('the new document is told', () => changes.at(-1)?.id === 'y');
    t.is(changes.length, 3);
    await Promise.all([one.close(), other.close()]);
  });

  /** Requires that the call is refused as unavailable; a call that hangs exceeds the time limit of the test. */
  const refusedAsUnavailable = async (work: () => Promise<unknown>): Promise<void> => {
    const error = await work().then(
      () => undefined,
      (rejection: unknown) => rejection,
    );
    if (!(error instanceof UnavailableError))
      throw new Error(`was not refused as unavailable: ${error}`, { cause: error });
  };

  /** Writes until stopped; returns the acknowledged writes, and the writes with an unknown result. */
  const writer = (collection: Collection<TestDocument>) => {
    const acknowledged = new Set<string>();
    const unknown = new Set<string>();
    let writing = true;
    const done = (async () => {
      for (let n = 0; writing; n += 1) {
        const id = `w${n}`;
        await collection.insert({ id, n: 1000 + n }).then(
          () => acknowledged.add(id),
          (error: unknown) => {
            if (!(error instanceof UnavailableError)) throw error;
            unknown.add(id);
          },
        );
      }
    })();
    const stop = async () => {
      writing = false;
      await done;
      return { acknowledged, unknown };
    };
    return { stop };
  };

  test.serial(
    'mongodb: a server whose replica set is not initiated is distinguished from an unreachable server',
    async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'oiq-mongodb-'));
      const [port = 0, nobody = 0] = await freePorts(2);
      const server = await startService('mongodb', { port, directory, initialize: false });
      try {
        for (const url of [server.url, `mongodb://127.0.0.1:${port}/oiq`])
          await t.throwsAsync(firstUse(url), {
            instanceOf: UnavailableError,
            message: 'MongoDB answers, but its replica set is not initiated: run rs.initiate() once, in mongosh',
          });
        await t.throwsAsync(firstUse(`mongodb://127.0.0.1:${nobody}/oiq`), {
          message: 'MongoDB cannot be reached',
        });
      } finally {
        await server.kill();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );

  test('mongodb: while the server is killed or hangs, calls are refused in time and feeds are stale; afterwards everything continues without a gap', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'oiq-mongodb-'));
    const [port = 0] = await freePorts(1);
    const server = await startService('mongodb', { port, directory });
    const documents = await openMongoDocuments({ url: within(server.url) });
    const writing = await openMongoDocuments({ url: within(server.url) });
    try {
      const definition = defineCollection<TestDocument>({ name: 'outage' });
      await documents.ensureCollections([definition]);
      const collection = documents.forTenant('a').collection(definition);
      await collection.insert({ id: 'before', n: 0 });
      const versions = new Map<string, number>();
      const feed = await documents.follow(definition, ({ id, document }) => {
        t.true((document?.version ?? 0) > (versions.get(id) ?? 0), `${id} is told in order`);
        versions.set(id, document?.version ?? 0);
      });
      const { stop } = writer(writing.forTenant('a').collection(definition));
      const outages = [
        { off: () => server.kill(), on: () => server.start() },
        { off: () => server.hang(), on: async () => server.resume() },
      ];
      for (const { off, on } of outages) {
        await off();
        const at = performance.now();
        await Promise.all([
          refusedAsUnavailable(() => collection.find('before')),
          refusedAsUnavailable(() => collection.insert({ id: `lost${at}`, n: 1 })),
          refusedAsUnavailable(() => collection.update('before', { n: 2 })),
          refusedAsUnavailable(() => collection.list()),
          refusedAsUnavailable(() => documents.check()),
          refusedAsUnavailable(() =>
            documents.transaction((transaction) => transaction.forTenant('a').collection(definition).insert({ n: 5 })),
          ),
          eventually('the feed is stale', () => feed.getStaleMs() > 2000),
        ]);
        await on();
        await eventually('the feed is fresh again', () => feed.getStaleMs() < 1500);
        await collection.update('before', { n: 3 });
      }
      const { acknowledged, unknown } = await stop();
      t.true(acknowledged.size > 0);
      const present = new Map<string, number>();
      for await (const { id, version } of documents.findInAllTenants(definition)) present.set(id, version);
      for (const id of acknowledged) t.true(present.has(id), `${id} was acknowledged`);
      for (const id of present.keys())
        t.true(
          acknowledged.has(id) || unknown.has(id) || id === 'before' || id.startsWith('lost') || id.length > 30,
          id,
        );
      await eventually('the follower has heard of all', () =>
        [...present].every(([id, version]) => versions.get(id) === version),
      );
      t.is(versions.size, present.size);
    } finally {
      await server.kill();
      await Promise.all([documents.close(), writing.close()]);
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test('mongodb: without a server the store can be opened, and its use is refused', async (t) => {
    const [port] = await freePorts(1);
    await t.notThrowsAsync(refusedAsUnavailable(() => firstUse(`mongodb://127.0.0.1:${port}/?replicaSet=rs0`)));
  });

  test.serial('mongodb: two instances that write the same document in transactions lose no write', async (t) => {
    const { definition, one, other } = await opened('contended');
    await one.forTenant('a').collection(definition).insert({ id: 'x', n: 0 });
    const increment = (documents: Documents) =>
      documents.transaction(async (transaction) => {
        const staged = transaction.forTenant('a').collection(definition);
        const before = await staged.find('x');
        await staged.update('x', { n: (before?.n ?? 0) + 1 });
      });
    await Promise.all(Array.from({ length: 20 }, (_, n) => increment(n % 2 === 0 ? one : other)));
    t.is((await one.forTenant('a').collection(definition).find('x'))?.n, 20);
    const same = await Promise.allSettled(
      [one, other].map((documents) =>
        documents.transaction((transaction) => transaction.forTenant('a').collection(definition).insert({ n: 99 })),
      ),
    );
    const refused = same.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    t.is(refused.length, 1);
    t.true(refused[0] instanceof ConflictError);
    await Promise.all([one.close(), other.close()]);
  });
}
