/** Contract of every documents store. Each adapter's test file runs this suite with its own store. */
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { PermanentError } from '../../schemas/errors.ts';
import {
  buildContainsFilter,
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type DocumentChange,
  type Documents,
  defineCollection,
  type Feed,
  type Filter,
  type FindOptions,
  type ValueCount,
} from '../../schemas/ports/documents.ts';
import { eventually } from '../waiting.ts';

interface TestDocument {
  readonly name?: string;
  readonly state?: string | null;
  readonly rank?: unknown;
  readonly tags?: readonly unknown[];
  readonly owner?: { readonly id?: string; readonly mail?: string };
  readonly members?: readonly { readonly id: string; readonly role: string }[];
}

/** Reads within a transaction until an event outside of it has happened: the work may await nothing else. */
const createReaderUntil = async <Result>(
  staged: Pick<Collection<object>, 'count'>,
  outside: Promise<Result>,
): Promise<Result> => {
  let isOver = false;
  const over = outside.finally(() => {
    isOver = true;
  });
  while (!isOver) await staged.count();
  return over;
};

let collections = 0;
const freshCollection = <Fields extends object = TestDocument>(
  rest: Omit<CollectionDefinition<Fields>, 'name'> = {},
): CollectionDefinition<Fields> => {
  collections += 1;
  return defineCollection<Fields>({ name: `c${collections}-${process.pid}`, ...rest });
};

const deep = (levels: number): unknown => {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { in: value } : [value];
  return value;
};

const awkward: readonly (readonly [what: string, fields: Record<string, unknown>, kept?: Record<string, unknown>])[] = [
  ['an empty document', {}],
  ['operators as names', { $set: { a: 1 }, $where: 'true', inner: { $gt: 1, $ref: 'x', $id: 'y', $db: 'z' } }],
  ['dots in names', { 'a.b': 1, inner: { 'c.d': { 'e.': 2, '.f': 3 } } }],
  [
    '__proto__, constructor and prototype as names',
    JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":2},"in":{"__proto__":null}}'),
  ],
  ['names of the driver', { _bsontype: 'ObjectId', inner: { _bsontype: 'Long', low: 1 }, toBSON: 'x', _id: 'mine' }],
  [
    "the store's own names, inside",
    { inner: { id: 'x', version: 'v', createdAt: 1, tenant: 't', fields: 'f', json: 'j' } },
  ],
  ['names of its own columns', { tenant: 'other', fields: { a: 1 }, json: '{"a":2}', tenantId: 'b' }],
  ["the store's own names, outside", { version: 99, createdAt: 'never', updatedAt: 'never', a: 1 }, { a: 1 }],
  ['undefined', { a: undefined, b: [undefined, 1], c: { d: undefined } }, { b: [null, 1], c: {} }],
  [
    'dates',
    { at: new Date(0), text: '2024-01-01T00:00:00.000Z' },
    { at: '1970-01-01T00:00:00.000Z', text: '2024-01-01T00:00:00.000Z' },
  ],
  [
    'numbers',
    {
      int: 1,
      big: 2 ** 53 - 1,
      over: 2 ** 31,
      float: 0.1,
      small: -5e-324,
      huge: 1.7e308,
      negative: -1,
      zero: -0,
      no: Number.NaN,
    },
    {
      int: 1,
      big: 2 ** 53 - 1,
      over: 2 ** 31,
      float: 0.1,
      small: -5e-324,
      huge: 1.7e308,
      negative: -1,
      zero: 0,
      no: null,
    },
  ],
  ['null, false, empty', { a: null, b: false, c: '', d: [], e: {}, '': 'empty name' }],
  ['text', { a: 'é\u{1F600}\u{10FFFF}', b: 'nul\0in text', c: '\ud800 alone', d: '"\\\n\u2028' }],
  ['broken text and nul in names', { 'a\0b': 1, '\ud800': 2, in: { 'x\0': 3 } }],
  ['lists in lists', { a: [[1, [2, []]], [null], [{ b: [{}] }]] }],
  ['150 levels', { deep: deep(150) }],
  ['names like numbers', { 2: 'b', 1: 'a', '01': 'c' }],
  ['a long text', { text: 'x'.repeat(1_000_000) }],
];

const samples: readonly (TestDocument & { readonly id: string })[] = [
  { id: 'a', name: 'Anna', state: 'open', rank: 1, tags: ['x', 'y'], owner: { id: 'u1' } },
  { id: 'b', name: 'anna', state: 'open', rank: 2, tags: [], owner: { id: 'u2', mail: 'b@x' } },
  { id: 'c', name: 'Bert', state: 'closed', rank: 10, tags: ['y'], members: [{ id: 'u1', role: 'admin' }] },
  {
    id: 'd',
    name: 'Émile',
    state: null,
    rank: null,
    members: [
      { id: 'u2', role: 'admin' },
      { id: 'u1', role: 'viewer' },
    ],
  },
  { id: 'e', rank: '2', tags: [1, true, null] },
  { id: 'f', name: '', state: 'open', rank: true, owner: {} },
];

/** Expected result of `counts`, computed one document at a time. */
const countedAlone = (documents: readonly object[], fields: readonly string[]): readonly (readonly ValueCount[])[] =>
  fields.map((field) => {
    const counts = new Map<ValueCount['value'], number>();
    for (const document of documents) {
      const held = (document as Readonly<Record<string, unknown>>)[field];
      for (const value of new Set(Array.isArray(held) ? held : [held]))
        if (['string', 'number', 'boolean'].includes(typeof value))
          counts.set(value as ValueCount['value'], (counts.get(value as ValueCount['value']) ?? 0) + 1);
    }
    return [...counts].map(([value, count]) => ({ value, count }));
  });

/** Counts each field among the documents that match the selected values of the other fields. */
const chosenAlone = (
  documents: readonly object[],
  fields: readonly string[],
  chosen: Readonly<Record<string, ValueCount['value']>>,
): readonly (readonly ValueCount[])[] =>
  fields.flatMap((field) => {
    const among = documents.filter((document) =>
      Object.entries(chosen).every(([other, value]) => {
        const held = (document as Readonly<Record<string, unknown>>)[other];
        return other === field || held === value || (Array.isArray(held) && held.includes(value));
      }),
    );
    return countedAlone(among, [field]);
  });

const choices: readonly Readonly<Record<string, ValueCount['value']>>[] = [
  { tags: 'y' },
  { state: 'open', tags: 'y' },
  { state: 'open', rank: true, name: '' },
  { name: 'none' },
];

/** Sorted, because equal counts may be in any order. */
const formatCounts = (counts: readonly ValueCount[]): readonly string[] =>
  counts.map(({ value, count }) => `${JSON.stringify(value)} ${count}`).sort();

const filters: readonly (readonly [filter: Filter, ids: string])[] = [
  [{}, 'abcdef'],
  [{ id: 'c' }, 'c'],
  [{ id: { $in: ['a', 'f', 'z'] } }, 'af'],
  [{ version: 1, createdAt: { $gt: '2000' } }, 'abcdef'],
  [{ state: 'open' }, 'abf'],
  [{ state: { $eq: 'open' }, rank: { $gt: 1 } }, 'b'],
  [{ state: null }, 'de'],
  [{ state: { $ne: 'open' } }, 'cde'],
  [{ state: { $in: ['closed', null] } }, 'cde'],
  [{ state: { $nin: ['closed', 'open'] } }, 'de'],
  [{ state: { $exists: true } }, 'abcdf'],
  [{ state: { $exists: false } }, 'e'],
  [{ rank: 2 }, 'b'],
  [{ rank: '2' }, 'e'],
  [{ rank: { $gte: 2 } }, 'bc'],
  [{ rank: { $lt: '3' } }, 'e'],
  [{ rank: true }, 'f'],
  [{ tags: 'y' }, 'ac'],
  [{ tags: { $in: ['x', 1] } }, 'ae'],
  [{ tags: { $all: ['x', 'y'] } }, 'a'],
  [{ tags: { $size: 0 } }, 'b'],
  [{ tags: ['y'] }, 'c'],
  [{ tags: true }, 'e'],
  [{ 'owner.id': 'u1' }, 'a'],
  [{ 'owner.mail': { $exists: false } }, 'acdef'],
  [{ 'members.id': 'u1' }, 'cd'],
  [{ 'members.0.id': 'u1' }, 'c'],
  [{ members: { $elemMatch: { id: 'u1', role: 'admin' } } }, 'c'],
  [{ 'members.id': 'u1', 'members.role': 'admin' }, 'cd'],
  [{ name: { $regex: '^an', $options: 'i' } }, 'ab'],
  [{ name: /^B/ }, 'c'],
  [{ name: { $not: { $regex: 'n' } } }, 'cdef'],
  [{ $or: [{ name: 'Bert' }, { rank: 1 }] }, 'ac'],
  [{ $and: [{ state: 'open' }, { $or: [{ rank: 1 }, { rank: 2 }] }] }, 'ab'],
  [{ $nor: [{ state: 'open' }, { id: 'e' }] }, 'cd'],
  [{ state: 'open', $and: [{ state: 'closed' }] }, ''],
];

/** Names and values that stores encode, and characters that are special in patterns. */
const texts = ['50%', 'a_b', 'axb', 'a"b', 'c:\\d', 'nul\0z', 'ÉTÉ', 'été', 'tab\there', 'Anna', 'anna', '', 'state'];

const samplesOfTexts: typeof samples = texts.map((text, n) => ({
  id: `t${n}`,
  name: text,
  state: n % 2 === 0 ? 'even' : 'odd',
  rank: n % 3,
  tags: [text, n],
}));

const filtersOfTexts: readonly Filter[] = [
  ...texts.flatMap((text) => [
    { tags: text },
    { name: { $in: [text, 'Bert'] } },
    { name: buildContainsFilter(text || 'x') },
  ]),
  ...['n', 'A', '%', '_', '\\', '"', 'é', 'nul\0', 'name', 'u00', '55'].map((text) => ({
    name: buildContainsFilter(text),
  })),
  { $and: [{ name: buildContainsFilter('a') }, { $or: [{ state: 'even' }, { rank: 2 }] }, { tags: 'axb' }] },
  { name: { $regex: 'a\\wb' } },
  { name: { $regex: 'ANNA' } },
  { name: { $in: Array.from({ length: 40 }, (_, n) => (n === 39 ? 'Anna' : `other ${n}`)) } },
];
const titleOf = (filter: Filter): string =>
  JSON.stringify(filter, (_, value) => (value instanceof RegExp ? String(value) : value));

/** All IDs of a list, read page by page. */
const idsOfPages = async (collection: Collection<TestDocument>, options: FindOptions): Promise<string[]> => {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const { items, nextCursor } = await collection.list({ ...options, after });
    ids.push(...items.map(({ id }) => id));
    after = nextCursor ?? undefined;
  } while (after !== undefined && ids.length < 1000);
  return ids;
};

/** Tests run serially: forty concurrent tests on a busy machine make operations exceed their time limit. */
export const documentsContract = (name: string, make: () => Promise<Documents>): void => {
  let documents: Documents;
  test.before(async () => {
    documents = await make();
  });
  test.after.always(() => documents?.close());
  const a = `a-${process.pid}`;
  const b = `b-${process.pid}`;
  const collectionOf = <Fields extends object>(definition: CollectionDefinition<Fields>, tenant = a) =>
    documents.forTenant(tenant).collection(definition);
  const conflict =
    (kind: string, ...fields: string[]) =>
    (error: unknown): boolean =>
      error instanceof ConflictError && error.kind === kind && error.fields.join() === fields.join();

  test.serial(`${name}: a document is inserted, found, replaced, updated and deleted, with its version`, async (t) => {
    const collection = collectionOf(freshCollection());
    const created = await collection.insert({ name: 'one', state: 'open' });
    t.is(created.version, 1);
    t.is(created.createdAt, created.updatedAt);
    t.regex(created.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.deepEqual(await collection.find(created.id), created);
    const replaced = await collection.replace(created.id, { rank: 3 });
    t.deepEqual(
      { ...replaced, updatedAt: '' },
      { id: created.id, version: 2, createdAt: created.createdAt, updatedAt: '', rank: 3 },
    );
    t.deepEqual(await collection.find(created.id), replaced);
    const updated = await collection.update(created.id, { name: 'two', rank: undefined }, 2);
    t.deepEqual(
      { ...updated, updatedAt: '' },
      { id: created.id, version: 3, createdAt: created.createdAt, updatedAt: '', name: 'two' },
    );
    t.deepEqual(await collection.find(created.id), updated);
    t.true(await collection.delete(created.id, 3));
    t.is(await collection.find(created.id), undefined);
    t.false(await collection.delete(created.id));
  });

  test.serial(
    `${name}: a write for another version, or for a missing document, is a conflict and changes nothing`,
    async (t) => {
      const collection = collectionOf(freshCollection());
      const created = await collection.insert({ name: 'one' });
      for (const write of [
        () => collection.replace(created.id, { name: 'x' }, 2),
        () => collection.update(created.id, { name: 'x' }, 7),
        () => collection.delete(created.id, 2),
        () => collection.replace('none', { name: 'x' }),
        () => collection.update('none', { name: 'x' }, 1),
        () => collection.delete('none', 1),
      ])
        t.true(conflict('version')(await t.throwsAsync(write)));
      t.deepEqual((await collection.list()).items, [created]);
    },
  );

  test.serial(
    `${name}: one of several concurrent writes for one version succeeds; without a version all are applied`,
    async (t) => {
      const collection = collectionOf(freshCollection<Record<string, number>>());
      const { id } = await collection.insert({});
      const versioned = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) => collection.update(id, { [`v${n}`]: n }, 1)),
      );
      t.is(versioned.filter(({ status }) => status === 'fulfilled').length, 1);
      await Promise.all(Array.from({ length: 8 }, (_, n) => collection.update(id, { [`n${n}`]: n })));
      const found = await collection.find(id);
      t.is(found?.version, 10);
      for (let n = 0; n < 8; n += 1) t.is(found?.[`n${n}`], n);
    },
  );

  test.serial(`${name}: an ID is unique within its tenant, and may be any text up to 512 characters`, async (t) => {
    const collection = collectionOf(freshCollection());
    for (const id of ['x', 'a.b/$c é\u{1F600}', '__proto__', '0', 'y'.repeat(512)]) {
      await collection.insert({ id, name: id });
      t.is((await collection.find(id))?.name, id);
      t.true(conflict('duplicate', 'id')(await t.throwsAsync(collection.insert({ id, name: 'again' }))));
      t.is((await collection.find(id))?.name, id);
    }
    for (const id of ['', 'y'.repeat(513), 'nul\0', '\ud800'])
      await t.throwsAsync(collection.insert({ id }), { instanceOf: PermanentError });
  });

  for (const [what, fields, expected = fields] of awkward)
    test.serial(`${name}: ${what} is read back as it was stored`, async (t) => {
      const collection = collectionOf(freshCollection<Record<string, unknown>>());
      const created = await collection.insert({ ...fields });
      const strip = (document: object | undefined): unknown =>
        Object.fromEntries(
          Object.entries(document ?? {}).filter(([key]) => !['id', 'version', 'createdAt', 'updatedAt'].includes(key)),
        );
      const same = (document: object | undefined): void => {
        t.deepEqual(strip(document), expected);
        t.is(JSON.stringify(strip(document)), JSON.stringify(expected));
      };
      same(created);
      same(await collection.find(created.id));
      same((await collection.list()).items[0]);
      same(await collection.replace(created.id, { ...fields }, 1));
      same(await collection.find(created.id));
      same(await collection.update(created.id, { ...fields }, 2));
      same(await collection.find(created.id));
      t.true(await collection.delete(created.id, 3));
    });

  test.serial(`${name}: a value that is not a document is refused`, async (t) => {
    const collection = collectionOf(freshCollection<object>());
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const fields of [cyclic, { n: 1n }, [1], { text: 'x'.repeat(4_200_000) }])
      await t.throwsAsync(collection.insert(fields), { instanceOf: PermanentError });
    t.is(await collection.count(), 0);
  });

  test.serial(`${name}: filters select the same documents, with and without an index`, async (t) => {
    const indexed = {
      indexes: [['state'], ['rank'], ['tags'], ['owner.id'], ['members.id', 'members.role'], ['name']],
    };
    for (const definition of [freshCollection(), freshCollection(indexed)]) {
      await documents.ensureCollections([definition]);
      const collection = collectionOf(definition);
      for (const sample of samples) await collection.insert(sample);
      await collectionOf(definition, b).insert({ ...samples[0] });
      for (const [filter, ids] of filters) {
        const { items } = await collection.list({ filter });
        t.is(items.map(({ id }) => id).join(''), ids, titleOf(filter));
        t.is(await collection.count(filter), ids.length, titleOf(filter));
        const fields = ['name', 'state', 'rank', 'tags', 'owner'];
        const counts = await collection.countValues(fields, { filter });
        t.deepEqual(counts.map(formatCounts), countedAlone(items, fields).map(formatCounts), titleOf(filter));
        for (const selectedValues of choices) {
          const facetCounts = await collection.countValues(fields, { filter, selectedValues });
          const expected = chosenAlone(items, fields, selectedValues).map(formatCounts);
          t.deepEqual(
            facetCounts.map(formatCounts),
            expected,
            `${titleOf(filter)} with ${JSON.stringify(selectedValues)}`,
          );
        }
      }
    }
  });

  test.serial(`${name}: values are counted among the matches, with and without an index`, async (t) => {
    const indexed = { indexes: [['state'], ['tags'], ['owner.id'], ['rank']] };
    for (const definition of [freshCollection(), freshCollection(indexed)]) {
      await documents.ensureCollections([definition]);
      const collection = collectionOf(definition);
      for (const sample of samples) await collection.insert(sample);
      await collection.insert({ id: 'g', tags: ['y', 'y'], state: 'closed' });
      await collection.insert({ id: 'gone', tags: ['y'], state: 'gone' });
      await collection.delete('gone');
      await collectionOf(definition, b).insert({ ...samples[0] });
      const counted = async (field: string, filter?: Filter): Promise<string> => {
        const [counts = []] = await collection.countValues([field], { ...(filter && { filter }) });
        t.deepEqual(
          counts.map(({ count }) => count),
          counts.map(({ count }) => count).toSorted((one, other) => other - one),
        );
        return formatCounts(counts).join(', ');
      };
      t.is(await counted('tags'), '"x" 1, "y" 3, 1 1, true 1');
      t.is(await counted('state'), '"closed" 2, "open" 3');
      t.is(await counted('rank'), '"2" 1, 1 1, 10 1, 2 1, true 1');
      t.is(await counted('owner'), '');
      t.is(await counted('name', { state: 'open' }), '"" 1, "Anna" 1, "anna" 1');
      t.is(await counted('tags', { state: 'closed' }), '"y" 2');
      t.is(await counted('tags', { $or: [{ state: 'open' }, { 'owner.id': 'u1' }] }), '"x" 1, "y" 1');
      t.is(await counted('tags', { $and: [{ state: { $in: ['open', 'closed'] } }, { tags: 'y' }] }), '"x" 1, "y" 3');
      t.is(await counted('tags', { state: { $in: ['open', 'closed'], $ne: 'open' } }), '"y" 2');
      t.is(await counted('tags', { name: { $regex: 'ANN', $options: 'i' } }), '"x" 1, "y" 1');
      t.is(await counted('tags', { state: null }), '1 1, true 1');
      const [ofTags] = await collection.countValues(['tags'], { limit: 1 });
      t.deepEqual(ofTags, [{ value: 'y', count: 3 }]);
      const facetCounts = await collection.countValues(['tags', 'owner', 'state'], {
        filter: { name: { $regex: 'ANN', $options: 'i' } },
      });
      t.deepEqual(
        facetCounts.map((counts) => counts.length),
        [2, 0, 1],
      );
      for (const field of ['id', 'owner.id'])
        await t.throwsAsync(collection.countValues([field]), { instanceOf: TypeError }, field);
      await t.throwsAsync(collection.countValues(['tags'], { filter: { $where: 'true' } }), { instanceOf: TypeError });
      await t.throwsAsync(collection.countValues(['tags'], { selectedValues: { state: 'open' } }), {
        instanceOf: TypeError,
      });
    }
  });

  test.serial(
    `${name}: a filter that contains undefined, or features that the stores do not share, is refused`,
    async (t) => {
      const collection = collectionOf(freshCollection());
      for (const filter of [
        { name: undefined },
        { name: { $in: ['x', undefined] } },
        { $or: [{ name: undefined }] },
        { $where: 'true' },
        { $expr: { $eq: [1, 1] } },
        { name: { $type: 'string' } },
      ]) {
        await t.throwsAsync(collection.list({ filter }), { instanceOf: TypeError }, titleOf(filter));
        await t.throwsAsync(collection.count(filter), { instanceOf: TypeError }, titleOf(filter));
      }
    },
  );

  /** All IDs, read page by page, while documents are added and removed between the pages. */
  const pagedIds = async (collection: Collection<TestDocument>, sort: FindOptions['sort']): Promise<string[]> => {
    const ids: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < 40; page += 1) {
      const { items, nextCursor } = await collection.list({ ...(sort && { sort }), limit: 3, after });
      ids.push(...items.map(({ id }) => id));
      if (nextCursor === null) return ids;
      after = nextCursor;
      await collection.insert({ id: `passing-${page}`, state: 'z', rank: 2 });
      await collection.delete(`passing-${page}`);
    }
    return ids;
  };

  test.serial(
    `${name}: pages in any order follow each other without gap or repetition while documents are added and removed`,
    async (t) => {
      const definition = freshCollection({ indexes: [['state', 'rank']], sorts: ['rank', 'version'] });
      await documents.ensureCollections([definition]);
      const collection = collectionOf(definition);
      const ranks = [3, 1, 2, 2, null, undefined, 'b', 'a', '\u{1F600}', '\uFFFD', true, false, -1, 0.5];
      const expectedIds = new Set<string>();
      for (const [n, rank] of ranks.entries())
        for (const state of ['x', 'y'])
          expectedIds.add((await collection.insert({ id: `${state}${n}`, state, rank })).id);
      const orders: readonly FindOptions['sort'][] = [
        undefined,
        { id: -1 },
        { rank: 1 },
        { rank: -1 },
        { state: -1, rank: 1 },
        { state: 1, rank: -1, id: -1 },
        { createdAt: -1, rank: 1 },
      ];
      const lists: string[][] = [];
      for (const sort of orders) {
        const all = (await collection.list({ ...(sort && { sort }) })).items.map(({ id }) => id);
        t.deepEqual([...all].sort(), [...expectedIds].sort());
        t.deepEqual(await pagedIds(collection, sort), all, JSON.stringify(sort));
        lists.push(all);
      }
      t.is(lists[2]?.filter((id) => id.startsWith('x')).join(), 'x4,x5,x12,x13,x1,x2,x3,x0,x7,x6,x9,x8,x11,x10');
      t.is(lists[3]?.filter((id) => id.startsWith('x')).join(), 'x10,x11,x8,x9,x6,x7,x0,x2,x3,x1,x13,x12,x4,x5');
    },
  );

  test.serial(
    `${name}: a range of IDs is listed in either direction, with or without an index, page by page`,
    async (t) => {
      const definition = freshCollection({ indexes: [['state']] });
      await documents.ensureCollections([definition]);
      const collection = collectionOf(definition);
      const ids = ['a', 'b', 'c', 'd', 'e', '\u{1F600}', '\uFFFD', '\u{10FFFF}'.repeat(3)];
      for (const [n, id] of ids.entries())
        await collection.insert({ id, rank: n, state: n % 2 === 0 ? 'even' : 'odd' });
      const found = async (filter: Filter, direction: 1 | -1): Promise<string> => {
        const all = await idsOfPages(collection, { filter, sort: { id: direction }, limit: 2 });
        t.is(await collection.count(filter), all.length);
        return all.map((id) => ids.indexOf(id)).join('');
      };
      t.is(await found({}, 1), '01234657');
      t.is(await found({}, -1), '75643210');
      t.is(await found({ id: { $gt: 'a', $lte: 'd' } }, 1), '123');
      t.is(await found({ id: { $gt: 'a', $lte: 'd' } }, -1), '321');
      t.is(await found({ id: { $gte: 'b' }, state: 'even' }, -1), '642');
      t.is(await found({ id: { $lt: 'd' }, state: 'odd' }, 1), '1');
      t.is(await found({ id: { $gt: 'c', $lt: 'b' } }, 1), '');
    },
  );

  const orders = [{ name: 1 }, { name: -1 }, { rank: 1, id: -1 }, { createdAt: -1 }] as const;
  for (const [how, rest] of [
    ['with indexes of values', { indexes: [['tags'], ['state']] }],
    ['with indexes of orders', { sorts: ['name', 'rank', 'createdAt'] }],
  ] as const)
    test.serial(
      `${name}: a filtered list in any order contains the documents that match, page by page, and its values are counted, ${how}`,
      async (t) => {
        const definition = freshCollection(rest);
        await documents.ensureCollections([definition]);
        const collection = collectionOf(definition);
        for (const sample of [...samplesOfTexts, ...samples]) await collection.insert(sample);
        for (const filter of [...filters.map(([filter]) => filter), ...filtersOfTexts]) {
          const { items } = await collection.list({ filter });
          const expectedIds = items.map(({ id }) => id).sort();
          const fields = ['name', 'state', 'rank', 'tags'];
          const counts = await collection.countValues(fields, { filter });
          t.deepEqual(counts.map(formatCounts), countedAlone(items, fields).map(formatCounts), titleOf(filter));
          for (const sort of orders) {
            const whole = (await collection.list({ sort })).items.map(({ id }) => id);
            const ids = await idsOfPages(collection, { filter, sort, limit: 7 });
            t.deepEqual(
              ids,
              whole.filter((id) => expectedIds.includes(id)),
              `${titleOf(filter)} by ${JSON.stringify(sort)}`,
            );
          }
        }
      },
    );

  test.serial(`${name}: a list sorted by a field that contains a list or an object is refused`, async (t) => {
    for (const [rank, rest] of [
      [['x'], {}],
      [{ is: 'x' }, {}],
      [['x'], { sorts: ['rank'] }],
      [{ is: 'x' }, { sorts: ['rank'] }],
    ] as const) {
      const definition = freshCollection(rest);
      await documents.ensureCollections([definition]);
      const collection = collectionOf(definition);
      await collection.insert({ rank: 1 });
      await collection.insert({ rank });
      for (const direction of [1, -1] as const)
        await t.throwsAsync(collection.list({ sort: { rank: direction } }), { instanceOf: TypeError });
    }
  });

  test.serial(`${name}: documents inserted between pages shift nothing`, async (t) => {
    const collection = collectionOf(freshCollection());
    for (let n = 10; n < 20; n += 1) await collection.insert({ id: `m${n}`, rank: n });
    const first = await collection.list({ sort: { rank: 1 }, limit: 4 });
    for (let n = 0; n < 10; n += 1) await collection.insert({ id: `early${n}`, rank: n });
    await collection.insert({ id: 'late', rank: 99 });
    const second = await collection.list({ sort: { rank: 1 }, after: first.nextCursor ?? '' });
    t.is([...first.items, ...second.items].map(({ id }) => id).join(), 'm10,m11,m12,m13,m14,m15,m16,m17,m18,m19,late');
    t.is(second.nextCursor, null);
  });

  test.serial(`${name}: a cursor that was tampered with, or belongs to another order, is refused`, async (t) => {
    const collection = collectionOf(freshCollection());
    for (let n = 0; n < 3; n += 1) await collection.insert({ rank: n });
    const { nextCursor } = await collection.list({ sort: { rank: 1 }, limit: 1 });
    const forged = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const after of [
      '',
      'x',
      '%%%',
      forged(null),
      forged({ sort: '1rank,1id', place: [{ $gt: '' }, 'x'] }),
      forged({ sort: '1rank,1id', place: [1] }),
    ])
      await t.throwsAsync(collection.list({ sort: { rank: 1 }, after }), { instanceOf: PermanentError });
    await t.throwsAsync(collection.list({ after: nextCursor ?? '' }), { instanceOf: PermanentError });
    await collection.insert({ rank: [1] });
    await t.throwsAsync(collection.list({ sort: { rank: 1 } }), { instanceOf: TypeError });
  });

  test.serial(
    `${name}: a unique set applies within one tenant, and a globally unique set across all tenants`,
    async (t) => {
      const definition = freshCollection({
        unique: [['name'], ['state', 'owner.id']],
        uniqueEverywhere: [['owner.mail']],
      });
      await documents.ensureCollections([definition]);
      const mine = collectionOf(definition);
      const theirs = collectionOf(definition, b);
      const one = await mine.insert({ name: 'n', state: 's', owner: { id: '1', mail: 'm' } });
      t.true(conflict('duplicate', 'name')(await t.throwsAsync(mine.insert({ name: 'n' }))));
      t.true(
        conflict(
          'duplicate',
          'state',
          'owner.id',
        )(await t.throwsAsync(mine.insert({ state: 's', owner: { id: '1' } }))),
      );
      t.true(conflict('duplicate', 'owner.mail')(await t.throwsAsync(mine.insert({ owner: { mail: 'm' } }))));
      t.true(conflict('duplicate', 'owner.mail')(await t.throwsAsync(theirs.insert({ owner: { mail: 'm' } }))));
      await theirs.insert({ name: 'n', state: 's', owner: { id: '1' } });
      const other = await mine.insert({ name: 'N', state: 's', owner: { id: '2' } });
      t.true(conflict('duplicate', 'name')(await t.throwsAsync(mine.update(other.id, { name: 'n' }))));
      t.true(conflict('duplicate', 'name')(await t.throwsAsync(mine.replace(other.id, { name: 'n' }))));
      t.deepEqual(await mine.find(other.id), other);
      await mine.update(one.id, { name: 'n', rank: 1 });
      await mine.update(one.id, { name: 'free' });
      await mine.update(other.id, { name: 'n' });
      await mine.delete(other.id);
      await mine.insert({ name: 'n', state: 's', owner: { id: '2' } });
      const same = await Promise.allSettled(Array.from({ length: 5 }, () => mine.insert({ name: 'race' })));
      t.is(same.filter(({ status }) => status === 'fulfilled').length, 1);
    },
  );

  test.serial(`${name}: documents without a field of a unique set, or with null in it, do not conflict`, async (t) => {
    const definition = freshCollection({ unique: [['name'], ['state', 'rank']], uniqueEverywhere: [['owner.mail']] });
    await documents.ensureCollections([definition]);
    const collection = collectionOf(definition);
    for (let n = 0; n < 3; n += 1) await collection.insert({ state: 's' });
    for (let n = 0; n < 3; n += 1) await collection.insert({ state: null, rank: 1, owner: {} });
    t.is(await collection.count(), 6);
  });

  test.serial(`${name}: an index or unique set declared later applies to the existing documents`, async (t) => {
    const before = freshCollection({ unique: [['name']] });
    await documents.ensureCollections([before]);
    for (let n = 0; n < 3; n += 1) await collectionOf(before).insert({ name: `n${n}`, state: 's' });
    const after = { ...before, unique: [], uniqueEverywhere: [['name']], indexes: [['state']] };
    await documents.ensureCollections([after]);
    await documents.ensureCollections([after]);
    t.is(await collectionOf(after).count({ state: 's' }), 3);
    t.true(conflict('duplicate', 'name')(await t.throwsAsync(collectionOf(after, b).insert({ name: 'n1' }))));
    const loose = { name: before.name };
    await documents.ensureCollections([loose]);
    await collectionOf<TestDocument>(loose).insert({ name: 'n1', state: 's' });
    t.is(await collectionOf<TestDocument>(loose).count({ state: 's' }), 4);
  });

  test.serial(`${name}: a tenant sees nothing of another's document, by any method`, async (t) => {
    const definition = freshCollection({ indexes: [['name']], unique: [['name']] });
    await documents.ensureCollections([definition]);
    const mine = collectionOf(definition);
    const theirs = collectionOf(definition, b);
    const secret = await mine.insert({ name: 'secret', tags: ['x'] });
    const missing = conflict('version');
    t.is(await theirs.find(secret.id), undefined);
    for (const filter of [
      {},
      { id: secret.id },
      { name: 'secret' },
      { tags: 'x' },
      { $or: [{ name: 'secret' }, { id: secret.id }] },
      { name: { $in: ['secret'] } },
    ]) {
      t.deepEqual(await theirs.list({ filter }), { items: [], nextCursor: null }, titleOf(filter));
      t.deepEqual(await theirs.list({ filter, sort: { name: -1 } }), { items: [], nextCursor: null }, titleOf(filter));
      t.is(await theirs.count(filter), 0, titleOf(filter));
    }
    await mine.insert({ name: 'second' });
    const { nextCursor } = await mine.list({ limit: 1 });
    t.deepEqual((await theirs.list({ after: nextCursor ?? '' })).items, []);
    t.true(missing(await t.throwsAsync(theirs.replace(secret.id, { name: 'x' }))));
    t.true(missing(await t.throwsAsync(theirs.replace(secret.id, { name: 'x' }, 1))));
    t.true(missing(await t.throwsAsync(theirs.update(secret.id, { name: 'x' }))));
    t.true(missing(await t.throwsAsync(theirs.update(secret.id, { name: 'x' }, 1))));
    t.false(await theirs.delete(secret.id));
    t.true(missing(await t.throwsAsync(theirs.delete(secret.id, 1))));
    await documents.transaction(async (transaction) => {
      const staged = transaction.forTenant(b).collection(definition);
      t.is(await staged.find(secret.id), undefined);
      t.is(await staged.count(), 0);
      t.false(await staged.delete(secret.id));
    });
    t.deepEqual(await mine.find(secret.id), secret);
    const own = await theirs.insert({ id: secret.id, name: 'secret' });
    t.deepEqual(await theirs.find(secret.id), own);
    await theirs.delete(secret.id);
    t.deepEqual(await mine.find(secret.id), secret);
    t.throws(() => documents.forTenant(''));
  });

  test.serial(`${name}: everywhere reads all tenants' documents once, with their tenant`, async (t) => {
    const definition = freshCollection({ indexes: [['state']] });
    await documents.ensureCollections([definition]);
    for (const tenant of [a, b])
      for (let n = 0; n < 7; n += 1)
        await collectionOf(definition, tenant).insert({ id: `${n}`, state: n < 3 ? 'x' : 'y' });
    const read = async (filter?: Filter): Promise<string[]> => {
      const found: string[] = [];
      for await (const { tenantId, id } of documents.findInAllTenants(definition, filter))
        found.push(`${tenantId}/${id}`);
      return found.sort();
    };
    t.is((await read()).length, 14);
    t.deepEqual(
      await read({ state: 'x' }),
      [a, b].flatMap((tenant) => ['0', '1', '2'].map((id) => `${tenant}/${id}`)),
    );
    for await (const _ of documents.findInAllTenants(definition)) break;
  });

  test.serial(
    `${name}: a transaction's writes are visible inside it at once, and outside it all together after the commit`,
    async (t) => {
      const definition = freshCollection({ unique: [['name']] });
      const audit = freshCollection<{ n: number }>();
      await documents.ensureCollections([definition, audit]);
      const collection = collectionOf(definition);
      await collection.insert({ id: 'old', name: 'old' });
      const result = await documents.transaction(async (transaction) => {
        const staged = transaction.forTenant(a).collection(definition);
        await staged.insert({ id: 'new', name: 'new' });
        await staged.update('old', { name: 'older' });
        await transaction.forTenant(b).collection(audit).insert({ id: '1', n: 1 });
        t.is((await staged.find('old'))?.name, 'older');
        t.is(await staged.count({ name: { $in: ['new', 'older'] } }), 2);
        t.is((await staged.list()).items.length, 2);
        const outside = await createReaderUntil(
          staged,
          Promise.all([collection.count(), collection.find('old'), collectionOf(audit, b).find('1')]),
        );
        t.is(outside[0], 1);
        t.is(outside[1]?.name, 'old');
        t.is(outside[2], undefined);
        return 'done';
      });
      t.is(result, 'done');
      t.is((await collection.find('old'))?.version, 2);
      t.is(await collection.count(), 2);
      t.is((await collectionOf(audit, b).find('1'))?.n, 1);
    },
  );

  test.serial(`${name}: a transaction leaves no changes when its work or a write in it rejects`, async (t) => {
    const definition = freshCollection({ unique: [['name']] });
    await documents.ensureCollections([definition]);
    const collection = collectionOf(definition);
    await collection.insert({ id: 'old', name: 'old' });
    await t.throwsAsync(
      documents.transaction(async (transaction) => {
        await transaction.forTenant(a).collection(definition).insert({ name: 'lost' });
        await transaction.forTenant(a).collection(definition).delete('old');
        throw new Error('changed my mind');
      }),
      { message: 'changed my mind' },
    );
    const swallowed: readonly ((staged: ReturnType<typeof collectionOf<TestDocument>>) => Promise<unknown>)[] = [
      (staged) => staged.insert({ name: 'old' }),
      (staged) => staged.insert({ id: 'old' }),
      (staged) => staged.update('old', { name: 'x' }, 9),
    ];
    for (const write of swallowed) {
      const error = await t.throwsAsync(
        documents.transaction(async (transaction) => {
          const staged = transaction.forTenant(a).collection(definition);
          await staged.insert({ name: 'lost' });
          await write(staged).catch(() => undefined);
        }),
      );
      t.true(error instanceof ConflictError);
    }
    t.deepEqual(
      (await collection.list()).items.map(({ id, name }) => [id, name]),
      [['old', 'old']],
    );
  });

  test.serial(`${name}: concurrent transactions over the same documents are serializable`, async (t) => {
    const definition = freshCollection<{ n: number }>();
    await documents.ensureCollections([definition]);
    const counters = collectionOf(definition);
    await counters.insert({ id: 'x', n: 0 });
    await counters.insert({ id: 'y', n: 100 });
    const move = () =>
      documents.transaction(async (transaction) => {
        const staged = transaction.forTenant(a).collection(definition);
        const x = await staged.find('x');
        const y = await staged.find('y');
        await staged.update('x', { n: (x?.n ?? 0) + 1 }, x?.version);
        await staged.update('y', { n: (y?.n ?? 0) - 1 }, y?.version);
      });
    await Promise.all([...Array.from({ length: 6 }, move), counters.insert({ id: 'z', n: 0 })]);
    t.is((await counters.find('x'))?.n, 6);
    t.is((await counters.find('y'))?.n, 94);
    t.is(await counters.count(), 3);
  });

  test.serial(
    `${name}: operations that a transaction's work did not await belong to it, and later operations are refused`,
    async (t) => {
      const definition = freshCollection();
      await documents.ensureCollections([definition]);
      let late = (): Promise<unknown> => Promise.resolve();
      await documents.transaction(async (transaction) => {
        const staged = transaction.forTenant(a).collection(definition);
        void Promise.all([staged.insert({ id: '1' }), staged.insert({ id: '2' })]);
        late = () => staged.insert({ id: '3' });
      });
      t.is(await collectionOf(definition).count(), 2);
      await t.throwsAsync(late, { message: /transaction is over/ });
      t.is(await collectionOf(definition).count(), 2);
    },
  );

  const foreignWaits: readonly (readonly [what: string, wait: () => Promise<unknown>])[] = [
    ['a timer', () => new Promise((resolve) => setTimeout(resolve, 60_000).unref())],
    ['a turn of the event loop', () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))],
    ['a file', () => readFile(import.meta.filename)],
    ['nothing that ever ends', () => new Promise(() => undefined)],
  ];
  for (const [what, wait] of foreignWaits)
    test.serial(`${name}: a transaction that awaits ${what} is rejected, and others write meanwhile`, async (t) => {
      const definition = freshCollection();
      await documents.ensureCollections([definition]);
      for (const hasWritten of [false, true]) {
        const attempt = documents.transaction(async (transaction) => {
          const staged = transaction.forTenant(a).collection(definition);
          if (hasWritten) await staged.insert({ id: 'lost' });
          await wait();
          await staged.insert({ id: 'late' });
        });
        await t.throwsAsync(attempt, { message: /may only await the documents of that transaction/ });
      }
      await collectionOf(definition).insert({ id: 'other' });
      t.deepEqual(
        (await collectionOf(definition).list()).items.map(({ id }) => id),
        ['other'],
      );
    });

  test.serial(`${name}: a long transaction lets other work run between its operations`, async (t) => {
    const definition = freshCollection();
    await documents.ensureCollections([definition]);
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    await documents.transaction(async (transaction) => {
      const staged = transaction.forTenant(a).collection(definition);
      while (turns < 3) await staged.insert({ tags: ['x'.repeat(1000)] });
    });
    clearInterval(counting);
    t.true(turns >= 3);
  });

  test.serial(`${name}: a write outside the surrounding transaction is refused and does not deadlock`, async (t) => {
    const definition = freshCollection();
    await documents.ensureCollections([definition]);
    const collection = collectionOf(definition);
    await documents.transaction(async (transaction) => {
      await t.throwsAsync(collection.insert({ id: 'past' }), { message: /must go through the transaction/ });
      await t.throwsAsync(
        documents.transaction(async () => undefined),
        { message: /must go through the transaction/ },
      );
      await transaction.forTenant(a).collection(definition).insert({ id: 'through' });
    });
    t.is(await collection.find('past'), undefined);
    t.truthy(await collection.find('through'));
  });

  const following = async <Fields extends object>(
    definition: CollectionDefinition<Fields>,
  ): Promise<{ feed: Feed; changes: DocumentChange<Fields>[] }> => {
    const changes: DocumentChange<Fields>[] = [];
    const feed = await documents.follow(definition, (change) => changes.push(change));
    return { feed, changes };
  };
  const brief = ({ tenantId, id, document }: DocumentChange<object>): string =>
    `${tenantId === a ? 'a' : 'b'}/${id}/${document?.version ?? 'gone'}`;

  test.serial(`${name}: a follower receives all existing documents, then each change in order`, async (t) => {
    const definition = freshCollection();
    await documents.ensureCollections([definition]);
    await collectionOf(definition).insert({ id: '1', name: 'one' });
    await collectionOf(definition).update('1', { name: 'uno' });
    await collectionOf(definition, b).insert({ id: '1' });
    const { feed, changes } = await following(definition);
    t.deepEqual(changes.map(brief).sort(), ['a/1/2', 'b/1/1']);
    changes.length = 0;
    const collection = collectionOf(definition);
    const created = await collection.insert({ id: '2', name: 'x', rank: { $deep: { 'a.b': 1 } } });
    await collection.update('2', { state: 'open' });
    await collection.update('1', { name: 'again' });
    await collection.delete('2');
    await collection.insert({ id: '2' });
    await documents.transaction(async (transaction) => {
      await transaction.forTenant(a).collection(definition).update('2', { rank: 1 });
      await transaction.forTenant(b).collection(definition).delete('1');
    });
    await t.throwsAsync(collection.update('2', { rank: 2 }, 9));
    await eventually('changes told', () => changes.length >= 7);
    t.deepEqual(changes.map(brief), ['a/2/1', 'a/2/2', 'a/1/3', 'a/2/gone', 'a/2/1', 'a/2/2', 'b/1/gone']);
    t.deepEqual(changes[0]?.document, created);
    t.is(changes[1]?.document?.state, 'open');
    await feed.close();
    await collection.insert({ id: '3' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    t.is(changes.length, 7);
  });

  test.serial(`${name}: a collection that does not exist yet can be followed, read and counted`, async (t) => {
    const definition = freshCollection();
    t.is(await collectionOf(definition).find('x'), undefined);
    t.is(await collectionOf(definition).count(), 0);
    const { feed, changes } = await following(definition);
    t.deepEqual(changes, []);
    await collectionOf(definition).insert({ id: '1' });
    await eventually('the change is told', () => changes.length > 0);
    t.deepEqual(changes.map(brief), ['a/1/1']);
    await feed.close();
  });

  test.serial(
    `${name}: a follower that starts during writes misses none and receives each document's versions in order`,
    async (t) => {
      const definition = freshCollection<{ n: number }>();
      await documents.ensureCollections([definition]);
      const collection = collectionOf(definition);
      for (let n = 0; n < 5; n += 1) await collection.insert({ id: `${n}`, n: 0 });
      let writing = true;
      const write = async (id: string): Promise<void> => {
        for (let n = 1; writing; n += 1) await collection.update(id, { n });
      };
      const writers = ['0', '1', '2', '3', '4'].map(write);
      const followers: { feed: Feed; changes: DocumentChange<{ n: number }>[] }[] = [];
      for (let n = 0; n < 4; n += 1) {
        followers.push(await following(definition));
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      writing = false;
      await Promise.all(writers);
      const last = new Map((await collection.list()).items.map(({ id, version }) => [id, version]));
      for (const { feed, changes } of followers) {
        const versions = new Map<string, number>();
        const settled = (): boolean => {
          for (const { id, document } of changes.splice(0)) {
            const before = versions.get(id);
            if (before !== undefined) t.is(document?.version, before + 1);
            versions.set(id, document?.version ?? 0);
          }
          return [...last].every(([id, version]) => versions.get(id) === version);
        };
        await eventually('last versions told', settled);
        await feed.close();
      }
    },
  );

  test.serial(
    `${name}: a transaction that is rolled back is not delivered, and a committed transaction is delivered as a whole`,
    async (t) => {
      const definition = freshCollection();
      await documents.ensureCollections([definition]);
      const { feed, changes } = await following(definition);
      await t.throwsAsync(
        documents.transaction(async (transaction) => {
          await transaction.forTenant(a).collection(definition).insert({ id: 'never' });
          throw new Error('no');
        }),
      );
      await documents.transaction(async (transaction) => {
        const staged = transaction.forTenant(a).collection(definition);
        await staged.insert({ id: '1' });
        await createReaderUntil(staged, new Promise((resolve) => setTimeout(resolve, 50)));
        t.is(changes.length, 0);
        await transaction.forTenant(a).collection(definition).insert({ id: '2' });
      });
      await eventually('changes told', () => changes.length >= 2);
      t.deepEqual(changes.map(brief), ['a/1/1', 'a/2/1']);
      await feed.close();
    },
  );

  test.serial(`${name}: a feed is fresh while it is idle, and infinitely stale once its follower failed`, async (t) => {
    const definition = freshCollection();
    await documents.ensureCollections([definition]);
    const { feed } = await following(definition);
    const failing = await documents.follow(definition, () => {
      throw new Error('cannot take it');
    });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await eventually('an idle feed is fresh', () => feed.getStaleMs() < 1000);
    await collectionOf(definition).insert({ id: '1' });
    await eventually('the failed follower is stale', () => failing.getStaleMs() === Number.POSITIVE_INFINITY);
    await eventually('the feed beside it is fresh', () => feed.getStaleMs() < 1000);
    t.is(failing.getStaleMs(), Number.POSITIVE_INFINITY);
    await feed.close();
    await failing.close();
  });

  test.serial(`${name}: check succeeds while the store is usable`, async (t) => {
    await t.notThrowsAsync(documents.check());
  });
};
