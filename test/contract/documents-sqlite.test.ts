import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { defineCollection, type FindOptions } from '../../schemas/ports/documents.ts';
import { documentsContract } from './documents.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-documents-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

documentsContract('sqlite', () => openSqliteDocuments({ path: join(directory, 'contract.sqlite') }));

const itemsDefinition = defineCollection<{ state: string; n: number }>({
  name: 'things',
  indexes: [['state']],
  sorts: ['n', 'createdAt'],
});

test('sqlite: acknowledged writes are present after reopening, under the declared indexes', async (t) => {
  const path = join(directory, 'reopened.sqlite');
  const first = await openSqliteDocuments({ path });
  await first.ensureCollections([itemsDefinition]);
  const created = await first.forTenant('a').collection(itemsDefinition).insert({ state: 'x', n: 1 });
  await first.close();
  await t.throwsAsync(first.forTenant('a').collection(itemsDefinition).find(created.id), {
    instanceOf: UnavailableError,
  });
  await t.throwsAsync(first.forTenant('a').collection(itemsDefinition).insert({ state: 'x', n: 1 }), {
    instanceOf: UnavailableError,
  });
  const second = await openSqliteDocuments({ path });
  t.deepEqual(await second.forTenant('a').collection(itemsDefinition).find(created.id), created);
  t.is(await second.forTenant('a').collection(itemsDefinition).count({ state: 'x' }), 1);
  await second.ensureCollections([itemsDefinition]);
  t.is(await second.forTenant('a').collection(itemsDefinition).count({ state: 'x' }), 1);
  await second.close();
  t.is(statSync(path).mode & 0o077, 0);
});

test('sqlite: equality on an indexed field reads only the matches, and a list in indexed order only its page', async (t) => {
  const documents = await openSqliteDocuments({ path: join(directory, 'indexed.sqlite') });
  await documents.ensureCollections([itemsDefinition]);
  // In transactions that are small enough for a busy machine.
  for (let first = 0; first < 10_000; first += 1000)
    await documents.transaction(async (transaction) => {
      const staged = transaction.forTenant('a').collection(itemsDefinition);
      for (let n = first; n < first + 1000; n += 1) await staged.insert({ state: n === first ? 'rare' : 'common', n });
    });
  const collection = documents.forTenant('a').collection(itemsDefinition);
  /** The minimum of several attempts, because the measurement includes the work of other tests. */
  const cpuOf = async (find: () => Promise<number>): Promise<number> => {
    await find();
    let minCpuMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const before = process.cpuUsage();
      for (let n = 0; n < 5; n += 1) t.is(await find(), 10);
      const { user, system } = process.cpuUsage(before);
      minCpuMs = Math.min(minCpuMs, user + system);
    }
    return minCpuMs;
  };
  const indexed = await cpuOf(() => collection.count({ state: 'rare' }));
  const scanned = await cpuOf(() => collection.count({ state: { $not: { $ne: 'rare' } } }));
  t.true(indexed * 5 < scanned, `${indexed} µs with the index, ${scanned} µs without`);
  const inOrder = async (sort: NonNullable<FindOptions['sort']>): Promise<number> =>
    (await collection.list({ filter: { state: { $ne: 'rare' } }, sort, limit: 10 })).items.length;
  const sortedAll = await cpuOf(() => inOrder({ state: 1 }));
  for (const sort of [{ n: 1 }, { n: -1 }, { createdAt: 1 }, { createdAt: -1 }] as const) {
    const byIndex = await cpuOf(() => inOrder(sort));
    t.true(byIndex * 5 < sortedAll, `${byIndex} µs by ${JSON.stringify(sort)}, ${sortedAll} µs without an index`);
  }
  await documents.close();
});

/** Number of stored documents that are parsed as JSON during the work. Nothing else may run meanwhile. */
const parsedDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (text, reviver) => {
    parsed += 1;
    return parse(text, reviver);
  };
  try {
    await work();
  } finally {
    JSON.parse = parse;
  }
  return parsed;
};

const named = defineCollection<Record<string, unknown>>({ name: 'named', indexes: [['tags']] });
const sorted = defineCollection<Record<string, unknown>>({ ...named, name: 'sorted', sorts: ['name', 'createdAt'] });

test.serial('sqlite: a list sorted by a field parses its page, not the whole collection', async (t) => {
  const documents = await openSqliteDocuments({ path: join(directory, 'ordered.sqlite') });
  await documents.ensureCollections([named, sorted]);
  for (const definition of [named, sorted]) {
    await documents.transaction(async (transaction) => {
      const staged = transaction.forTenant('a').collection(definition);
      for (let n = 0; n < 500; n += 1)
        await staged.insert({
          name: `thing ${(n * 7) % 500}`,
          description: n === 77 ? 'The name of a Needle' : '',
          visibility: n % 2 === 0 ? 'organization' : 'private',
          ownerId: n % 10 === 1 ? 'me' : 'you',
          tags: ['all', `t${n % 5}`],
        });
    });
    const collection = documents.forTenant('a').collection(definition);
    const visible = { $or: [{ visibility: 'organization' }, { ownerId: 'me' }] };
    const search = (text: string) => ({
      $or: ['name', 'description'].map((field) => ({ [field]: { $regex: text, $options: 'i' } })),
    });
    for (const [conditions, found] of [
      [[], 10],
      [[visible], 10],
      [[visible, { tags: 'all' }], 10],
      [[{ tags: 't3' }, visible], 10],
      [[{ tags: 't2' }, { tags: 't3' }, visible], 0],
      [[visible, search('needle')], 0],
      [[search('needle')], 1],
      [[search('description')], 0],
      [[search('thing'), visible], 10],
    ] as const)
      for (const sort of [{ name: 1 }, { name: -1 }, { createdAt: -1 }] as const) {
        const filter = conditions.length === 0 ? {} : { $and: conditions };
        const parsed = await parsedDuring(async () => {
          const first = await collection.list({ filter, sort, limit: 10 });
          t.is(first.items.length, found, JSON.stringify(filter));
          if (first.nextCursor === null) return;
          t.is((await collection.list({ filter, sort, limit: 10, after: first.nextCursor })).items.length, 10);
        });
        // Documents that the index did not find soon enough are read again.
        t.true(
          parsed <= (definition === sorted ? 3 : 2) * found + 4,
          `${parsed} parsed for ${JSON.stringify({ filter, sort })}`,
        );
      }
  }
  await documents.close();
});

test('sqlite: a document that SQLite itself cannot parse as JSON is listed in its position', async (t) => {
  const documents = await openSqliteDocuments({ path: join(directory, 'deep.sqlite') });
  await documents.ensureCollections([named, sorted]);
  for (const definition of [named, sorted]) {
    const collection = documents.forTenant('a').collection(definition);
    const deep = JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`) as unknown;
    for (const [id, name] of [
      ['a', 'b'],
      ['b', 'a'],
      ['c', '\ud800'],
      ['d', '\uffff'],
      ['e', '\ud800'],
    ] as const)
      await collection.insert({ id, name });
    const all = async (): Promise<string> => {
      const ids: string[] = [];
      for (let after: string | undefined; ids.length < 20; ) {
        const page = await collection.list({ filter: { name: { $ne: 'z' } }, sort: { name: 1 }, limit: 2, after });
        ids.push(...page.items.map(({ id }) => id));
        after = page.nextCursor ?? undefined;
        if (after === undefined) break;
      }
      return ids.join('');
    };
    t.is(await all(), 'baced');
    await collection.insert({ id: 'f', name: 'aa', deep });
    t.is(await all(), 'bfaced');
    t.is((await collection.list({ filter: { name: 'aa' }, sort: { name: 1 } })).items.length, 1);
    t.is(await collection.count({ name: { $regex: 'A', $options: 'i' } }), 2);
  }
  await documents.close();
});

test('sqlite: writes that wait behind a transaction that awaits something else run at once', async (t) => {
  const documents = await openSqliteDocuments({ path: join(directory, 'hung.sqlite') });
  const hung = documents.transaction(async (transaction) => {
    await transaction.forTenant('a').collection(itemsDefinition).insert({ state: 'x', n: 1 });
    await new Promise(() => undefined);
  });
  const waiting = documents.forTenant('a').collection(itemsDefinition).insert({ id: 'after', state: 'x', n: 2 });
  await t.throwsAsync(hung, { message: /may only await the documents of that transaction/ });
  await waiting;
  t.is(await documents.forTenant('a').collection(itemsDefinition).count(), 1);
  await documents.close();
});

test('sqlite: consecutive transactions let all other work run in between', async (t) => {
  const documents = await openSqliteDocuments({ path: join(directory, 'turns.sqlite') });
  let loopIterations = 0;
  const count = (): void => {
    loopIterations += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  for (let n = 0; n < 20; n += 1)
    await documents.transaction(async (transaction) => {
      await transaction.forTenant('a').collection(itemsDefinition).insert({ state: 'x', n });
    });
  clearImmediate(next);
  t.true(loopIterations >= 19, `${loopIterations} turns`);
  await documents.close();
});
