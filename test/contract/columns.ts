/** Contract of every adapter of the columns port. */
import { randomUUID } from 'node:crypto';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import { explainPrefix, type QueryParameters, type StatementCost } from '../../schemas/ports/columns.ts';
import { tenantTables } from '../../schemas/tables/index.ts';
import { measureCpuMs, measureLongestIterationMs } from '../cpu-time.ts';
import { test } from '../limit-concurrency.ts';
import { eventually } from '../waiting.ts';
import {
  blockOf,
  type ColumnsContract,
  countOf,
  failureOf,
  insertedColumns,
  quoted,
  randomRows,
  someTenant,
  tableNamed,
} from './columns-harness.ts';
import { columnsSearch } from './columns-search.ts';
import { columnsTenantFilter } from './columns-tenant-filters.ts';

/** Tables whose random rows never share a sorting key: each key has a random 64-bit part or an ID. */
const digest = (columns: readonly string[], from: string): string =>
  `SELECT count() AS rows, toString(sum(cityHash64(toString(tuple(${columns.map((column) => `found.${column}`).join(', ')}))))) AS digest FROM (${from}) AS found`;

const values: readonly (readonly [string, QueryParameters[string], unknown])[] = [
  ['String', "it's \\ {x:String}\n\t\0 漢🙂", "it's \\ {x:String}\n\t\0 漢🙂"],
  ['String', '', ''],
  ['UInt64', 18446744073709551615n, '18446744073709551615'],
  ['Int32', -5, -5],
  ['Float64', 1.25, 1.25],
  ['Float64', Number.NaN, 'nan'],
  ['Float64', Number.NEGATIVE_INFINITY, '-inf'],
  ['Bool', true, true],
  ["DateTime64(9, 'UTC')", '2026-03-01 10:00:00.123456789', '2026-03-01 10:00:00.123456789'],
  ["DateTime64(3, 'UTC')", '1772359200.5', '2026-03-01 10:00:00.500'],
  ['Array(String)', ["a'b", 'c\\d', ''], ["a'b", 'c\\d', '']],
  ['Array(UInt64)', [1, 2], ['1', '2']],
  ['Array(String)', [], []],
  ['FixedString(2)', 'ab', 'ab'],
];

/** For tables that merge rows or values: columns that random rows may have in common. */
const distinct: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  alert_states: { alert_id: 'toString(number)' },
  anomaly_looks: { detector_id: 'toString(number)' },
  error_hours: { users: '[toString(number)]' },
  fleet_agents: { agent_id: 'toString(number)' },
  landings: { landed_in: 'toString(number)' },
  llm_prices: { price_id: 'toString(number)' },
  rum_sessions: { pages: '[toString(number)]' },
};

export const columnsContract = (contract: ColumnsContract): void => {
  const { name, under } = contract;
  columnsTenantFilter(contract);
  columnsSearch(contract);

  for (const table of tenantTables) {
    test(`${name}: a block of ${table.name} is read back as it was inserted`, async (t) => {
      const tenant = someTenant();
      const own = { tenant_id: quoted(tenant), ...distinct[table.name] };
      await under().columns.insert(await blockOf(under(), table, own), randomUUID());
      const names = insertedColumns(table).map((column) => column.name);
      const sent = await under().columns.query(digest(names, randomRows(table, own)));
      const found = await under()
        .columns.forTenant(tenant)
        .query(digest(names, `SELECT * FROM ${table.name} WHERE tenant_id = {tenant:String}`));
      t.deepEqual(found, sent);
      t.is((found[0] as { rows: string }).rows, '100');
    });
  }

  test(`${name}: the watermark of a tenant and table is the newest one recorded`, async (t) => {
    const [tenant, other] = [someTenant(), someTenant()];
    const { columns } = under();
    const watermarkOf = (tenantId: string, table: string) => columns.forTenant(tenantId).getStoredUpToMs(table);
    t.is(await watermarkOf(tenant, 'logs'), undefined);
    const newestMs = Date.UTC(2026, 2, 1, 10, 0, 0, 123);
    columns.recordWatermark(
      'logs',
      new Map([
        [tenant, newestMs],
        [other, newestMs - 5_000],
      ]),
    );
    columns.recordWatermark('logs', new Map([[tenant, newestMs - 1]]));
    columns.recordWatermark('spans', new Map([[tenant, newestMs - 2]]));
    await eventually('it is told', async () => (await watermarkOf(tenant, 'spans')) !== undefined);
    await eventually('the other is told', async () => (await watermarkOf(other, 'logs')) !== undefined);
    t.is(await watermarkOf(tenant, 'logs'), newestMs);
    t.is(await watermarkOf(tenant, 'spans'), newestMs - 2);
    t.is(await watermarkOf(tenant, 'samples'), undefined);
    t.is(await watermarkOf(other, 'logs'), newestMs - 5_000);
    columns.recordWatermark('logs', new Map([[tenant, newestMs + 1]]));
    await eventually('the newer time is told', async () => (await watermarkOf(tenant, 'logs')) === newestMs + 1);
  });

  // Other tests in this file also write, so this test runs alone.
  test.serial(
    `${name}: a write to a table is counted once it is readable, if there are no other writers`,
    async (t) => {
      const { columns } = under();
      const { getChangeCount } = columns.forTenant(someTenant());
      if (getChangeCount === undefined) return t.pass('others write as well');
      const before = getChangeCount('series');
      await columns.query('SELECT 1');
      t.is(getChangeCount('series'), before);
      const block = await blockOf(under(), tableNamed('series'), { tenant_id: quoted(someTenant()) });
      const writing = columns.insert(block, randomUUID());
      t.is(getChangeCount('series'), before);
      await writing;
      t.not(getChangeCount('series'), before);
    },
  );

  test(`${name}: a repeated token changes nothing, including the targets of views`, async (t) => {
    const tenant = someTenant();
    const spans = await blockOf(under(), tableNamed('spans'), {
      tenant_id: quoted(tenant),
      kind: '2',
      timestamp: "'2026-03-01 10:00:00'",
    });
    const resources = await blockOf(under(), tableNamed('resources'), {
      tenant_id: quoted(tenant),
      attributes: "map('service.name', toString(number))",
    });
    for (const token of ['first', 'first', 'second']) {
      await under().columns.insert(spans, `${tenant}:${token}`);
      await under().columns.insert(resources, `${tenant}:${token}`);
      const times = token === 'first' ? 1 : 2;
      t.is(await countOf(under(), 'spans', tenant), 100 * times);
      const requests = await under()
        .columns.forTenant(tenant)
        .query(
          'SELECT sum(requests) AS requests, sum(arraySum(mapValues(duration_buckets))) AS counted FROM span_metrics WHERE tenant_id = {tenant:String}',
        );
      t.deepEqual(requests, [{ requests: String(100 * times), counted: String(100 * times) }]);
      const activity = await under()
        .columns.forTenant(tenant)
        .query('SELECT sum(spans) AS spans FROM resource_activity WHERE tenant_id = {tenant:String}');
      t.deepEqual(activity, [{ spans: String(100 * times) }]);
      const entities = await under()
        .columns.forTenant(tenant)
        .query('SELECT uniqExact(kind, id) AS entities FROM entities WHERE tenant_id = {tenant:String}');
      t.deepEqual(entities, [{ entities: '100' }]);
    }
  });

  test(`${name}: concurrent inserts with the same token land once`, async (t) => {
    const tenant = someTenant();
    const block = await blockOf(under(), tableNamed('logs'), { tenant_id: quoted(tenant) });
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => under().columns.insert(block, tenant)));
    for (const result of results)
      if (result.status === 'rejected') t.true(result.reason instanceof UnavailableError, String(result.reason));
    await under().columns.insert(block, tenant);
    t.is(await countOf(under(), 'logs', tenant), 100);
  });

  test(`${name}: a token belongs to one table`, async (t) => {
    const tenant = someTenant();
    for (const table of ['logs', 'samples'])
      await under().columns.insert(await blockOf(under(), tableNamed(table), { tenant_id: quoted(tenant) }), tenant);
    t.is(await countOf(under(), 'logs', tenant), 100);
    t.is(await countOf(under(), 'samples', tenant), 100);
  });

  test(`${name}: a block without rows has no effect`, async (t) => {
    await t.notThrowsAsync(under().columns.insert({ table: 'logs', columns: [], rows: 0, chunks: [] }, 'none'));
  });

  test(`${name}: data that can never fit the table is a permanent error`, async (t) => {
    const { columns } = under();
    const block = await blockOf(under(), tableNamed('logs'), { tenant_id: quoted(someTenant()) });
    const bytes = Buffer.concat(block.chunks);
    const misfit = {
      columns: [{ name: 'resource_id', type: 'String' }],
      rows: 1,
      chunks: [await under().native("SELECT 'no number' AS resource_id")],
    };
    const bad = {
      cut: { ...block, chunks: [bytes.subarray(0, bytes.length - 5)] },
      'of another type': { ...block, ...misfit },
      'with an unknown column': { ...block, columns: [...block.columns, { name: 'unknown', type: 'UInt8' }] },
    };
    for (const [what, broken] of Object.entries(bad)) {
      const failure = await failureOf(t, columns.insert(broken, randomUUID()), PermanentError);
      t.is(failure?.reason, 'bad-block', what);
    }
  });

  test(`${name}: an insert into a table that does not exist yet is a retryable error`, async (t) => {
    const block = await blockOf(under(), tableNamed('logs'), { tenant_id: quoted(someTenant()) });
    await failureOf(t, under().columns.insert({ ...block, table: 'not_yet' }, randomUUID()), UnavailableError);
  });

  for (const [type, value, expected] of values) {
    test(`${name}: a parameter ${type} of ${JSON.stringify(String(value))} arrives unchanged`, async (t) => {
      t.deepEqual(await under().columns.query(`SELECT {value:${type}} AS value`, { value }), [{ value: expected }]);
    });
  }

  test(`${name}: many and large parameters are accepted`, async (t) => {
    const ids = Array.from({ length: 50_000 }, (_, index) => String(index));
    const rows = await under().columns.query('SELECT length({ids:Array(UInt64)}) AS ids', { ids });
    t.deepEqual(rows, [{ ids: '50000' }]);
  });

  test(`${name}: a value that does not fit its parameter is a permanent error`, async (t) => {
    await failureOf(t, under().columns.query('SELECT {value:UInt8} AS value', { value: 'x' }), PermanentError);
  });

  test(`${name}: a result with more rows than allowed is an error`, async (t) => {
    const sql = 'SELECT number FROM numbers({rows:UInt64})';
    t.is((await under().columns.query(sql, { rows: 10 }, { maxResultRows: 10 })).length, 10);
    const failure = await failureOf(t, under().columns.query(sql, { rows: 11 }, { maxResultRows: 10 }), PermanentError);
    t.is(failure?.reason, 'result-too-large');
  });

  test(`${name}: a long result is complete, and is parsed in parts`, async (t) => {
    const sql = `SELECT number, repeat('"\\n\\t\\t},\\n\\t\\t{', 20) AS text, map('a', number) AS nested, [('x', 'y')] AS pairs
      FROM numbers({rows:UInt64})`;
    const read = () => under().columns.query<Record<string, unknown>>(sql, { rows: 60_000 }, { maxResultRows: 60_000 });
    const rows = await read();
    t.is(rows.length, 60_000);
    for (const index of [0, 1, 2_000, 31_234, 59_999])
      t.deepEqual(rows[index], {
        number: String(index),
        text: '"\n\t\t},\n\t\t{'.repeat(20),
        nested: { a: String(index) },
        pairs: [['x', 'y']],
      });
    t.deepEqual(
      rows.map(({ number }) => Number(number)),
      Array.from({ length: 60_000 }, (_, index) => index),
    );
    const atOnceMs = await measureCpuMs(() => JSON.parse(JSON.stringify(rows)));
    const longestTurnMs = await measureLongestIterationMs(read, atOnceMs / 2);
    t.true(longestTurnMs < atOnceMs / 2, `${longestTurnMs} ms beside ${atOnceMs} ms`);
  });

  test(`${name}: a statement reports the resources that it used`, async (t) => {
    const costs: StatementCost[] = [];
    await under().columns.query(
      'SELECT sum(number) AS sum FROM numbers({rows:UInt64})',
      { rows: 100_000 },
      { onCost: (cost) => costs.push(cost) },
    );
    t.is(costs.length, 1);
    t.is(costs[0]?.rowsRead, 100_000);
    t.is(costs[0]?.bytesRead, 800_000);
    t.true((costs[0]?.elapsedMs ?? 0) > 0);
  });

  test(`${name}: a statement that would read more rows than allowed is an error`, async (t) => {
    const tenant = someTenant();
    const table = tableNamed('logs');
    await under().columns.insert(await blockOf(under(), table, { tenant_id: quoted(tenant) }), randomUUID());
    const sql = 'SELECT count(DISTINCT body) AS bodies FROM logs WHERE tenant_id = {tenant:String}';
    const read = (maxRowsRead: number) => under().columns.forTenant(tenant).query(sql, {}, { maxRowsRead });
    const failure = await failureOf(t, read(10), PermanentError);
    t.is(failure?.reason, 'reads-too-much');
    t.is((await read(1_000_000)).length, 1);
  });

  test(`${name}: a tenant's statement is explained and not run`, async (t) => {
    const columns = under().columns.forTenant(someTenant());
    const sql = `${explainPrefix}SELECT count() FROM logs WHERE tenant_id = {tenant:String} AND sleepEachRow(3) = 0`;
    const rows = await columns.query<{ explain: string }>(sql);
    t.regex(rows.map(({ explain }) => explain).join(''), /"Plan"/);
  });

  test(`${name}: a query ends when its time limit is reached`, async (t) => {
    const query = under().columns.query(
      'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)',
      {},
      { maxExecutionSeconds: 1 },
    );
    await failureOf(t, query, UnavailableError);
  });

  test(`${name}: a query gets no more memory than allowed`, async (t) => {
    const query = under().columns.query(
      'SELECT length(groupArray(number)) FROM numbers(100000000)',
      {},
      { maxMemoryBytes: 20_000_000 },
    );
    await failureOf(t, query, UnavailableError);
  });

  test(`${name}: an aborted query rejects at once and stops`, async (t) => {
    const mark = randomUUID();
    const sql = `SELECT sum(sipHash64(number, '${mark}')), {tenant:String} FROM numbers(1000000000000)`;
    const query = under()
      .columns.forTenant(someTenant())
      .query(sql, {}, { signal: AbortSignal.timeout(300) });
    await t.throwsAsync(query, { name: 'TimeoutError' });
    const running = async (): Promise<number> => {
      const rows = await under().columns.query(
        "SELECT query FROM system.processes WHERE query LIKE {like:String} AND query NOT LIKE '%processes%'",
        { like: `%${mark}%` },
      );
      return rows.length;
    };
    await eventually('it runs no more', async () => (await running()) === 0);
  });

  test(`${name}: numbers are returned as bytes, and NaN with its bits`, async (t) => {
    const costs: StatementCost[] = [];
    const bytes = await under()
      .columns.forTenant(someTenant())
      .queryNative(
        "SELECT reinterpretAsFloat64({bits:UInt64}) AS value, number FROM numbers(3) WHERE {tenant:String} != ''",
        { bits: 0x7ff0000000000002n },
        { onCost: (cost) => costs.push(cost) },
      );
    const text = Buffer.from(bytes);
    const start = text.indexOf('Float64') + 'Float64'.length;
    t.is(bytes[0], 2);
    t.is(bytes[1], 3);
    t.deepEqual(
      [0, 8, 16].map((at) => text.readBigUInt64LE(start + at)),
      Array.from({ length: 3 }, () => 0x7ff0000000000002n),
    );
    t.deepEqual(
      costs.map(({ rowsRead }) => rowsRead),
      [3],
    );
    const size = bytes.length;
    const moved = structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
    t.deepEqual([moved.length, bytes.length], [size, 0], 'another thread may have them');
  });

  test(`${name}: limits and aborts also apply to byte results`, async (t) => {
    const reader = under().columns.forTenant(someTenant());
    const sql = "SELECT number FROM numbers({rows:UInt64}) WHERE {tenant:String} != ''";
    t.true((await reader.queryNative(sql, { rows: 10 }, { maxResultRows: 10 })).length > 80);
    const failure = await failureOf(t, reader.queryNative(sql, { rows: 11 }, { maxResultRows: 10 }), PermanentError);
    t.is(failure?.reason, 'result-too-large');
    const endless = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000) WHERE {tenant:String} != ''";
    await t.throwsAsync(reader.queryNative(endless, {}, { signal: AbortSignal.timeout(300) }), {
      name: 'TimeoutError',
    });
    t.is((await reader.queryNative(sql, { rows: 0 })).length, 0);
  });

  test(`${name}: a query aborted before it starts never runs`, async (t) => {
    const signal = AbortSignal.abort(new Error('gone'));
    await t.throwsAsync(under().columns.query('SELECT 1', {}, { signal }), { message: 'gone' });
  });

  test(`${name}: the platform’s own reads may set engine settings`, async (t) => {
    t.deepEqual(await under().columns.query('SELECT 1 AS one SETTINGS max_threads = 1'), [{ one: 1 }]);
  });

  test(`${name}: a usable store reports that it is ready`, async (t) => {
    await t.notThrowsAsync(under().columns.check());
  });
};
