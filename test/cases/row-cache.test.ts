/** The cache of reads: separate for each source and tenant, bounded, and without negative results. */
import test from 'ava';
import { getResources } from '../../queries/resources.ts';
import { RowCache } from '../../queries/row-cache.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';

const rejectQuery = (): Promise<never> => Promise.reject(new Error('no query is expected here'));
const columnsOf = (tenantId: string, source?: WeakKey): TenantColumns => ({
  tenantId,
  ...(source === undefined ? {} : { source }),
  query: rejectQuery,
  queryNative: rejectQuery,
  getStoredUpToMs: rejectQuery,
});

test('cached rows belong to one source and one tenant', (t) => {
  const rows = new RowCache<string>(10);
  const [here, there] = [{}, {}];
  rows.forTenant(columnsOf('one', here)).set('key', 'value');
  t.is(rows.forTenant(columnsOf('one', here)).get('key'), 'value');
  t.is(rows.forTenant(columnsOf('two', here)).get('key'), undefined);
  t.is(rows.forTenant(columnsOf('one', there)).get('key'), undefined);
});

test('tenant names and keys cannot collide', (t) => {
  const rows = new RowCache<string>(10);
  const source = {};
  rows.forTenant(columnsOf('a', source)).set('b\0c', 'of a');
  t.is(rows.forTenant(columnsOf('a\0b', source)).get('c'), undefined);
});

test('without a source nothing is cached', (t) => {
  const rows = new RowCache<string>(10);
  rows.forTenant(columnsOf('one')).set('key', 'value');
  t.is(rows.forTenant(columnsOf('one')).get('key'), undefined);
});

test('if the cache is full, the least recently used rows are evicted', (t) => {
  const cache = new RowCache<number>(3).forTenant(columnsOf('one', {}));
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index);
  cache.get('a');
  cache.set('d', 3);
  t.deepEqual(['a', 'b', 'c', 'd'].map(cache.get), [0, undefined, 2, 3]);
});

/** Columns with resources that are stored later, and the number of queries. */
const resourceColumns = (landed: Set<string>) => {
  const statements: string[] = [];
  const columns: TenantColumns = {
    tenantId: 'one',
    source: {},
    queryNative: rejectQuery,
    getStoredUpToMs: rejectQuery,
    async query<Row>(sql: string) {
      statements.push(sql);
      const rows = [...landed].filter((id) => sql.includes(id));
      return rows.map((id) => ({ id, keys: ['name'], values: [id], types: 's', dropped: 0, url: '' })) as Row[];
    },
  };
  return { statements, columns };
};

test('a landed resource is read once, and a missing resource is read again', async (t) => {
  const landed = new Set(['11', '12']);
  const { statements, columns } = resourceColumns(landed);
  t.deepEqual([...(await getResources(columns, ['11', '13', '11'])).keys()], ['11']);
  landed.add('13');
  const found = await getResources(columns, ['11', '12', '13']);
  t.deepEqual([...found.keys()].sort(), ['11', '12', '13']);
  t.deepEqual(found.get('11')?.attributes['name'], '11');
  t.is(statements.length, 2);
  t.false(statements[1]?.includes('11'), 'cached rows are not queried again');
  await getResources(columns, ['11', '12', '13']);
  t.is(statements.length, 2);
});

test('if values have a weight above one, enough values are evicted to make room', (t) => {
  const cache = new RowCache<string>(6, (value) => value.length).forTenant(columnsOf('one', {}));
  cache.set('a', 'xx');
  cache.set('b', 'xx');
  cache.set('a', 'x');
  cache.set('c', 'xxx');
  t.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    ['x', 'xx', 'xxx'],
  );
  cache.set('d', 'xx');
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
    [undefined, undefined, 'xxx', 'xx'],
  );
});
