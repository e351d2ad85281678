/** Searches read few granules if a table has an index for them. */
import test from 'ava';
import { buildSearchCondition } from '../../queries/search/condition.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import type { SearchSignal } from '../../queries/signals/index.ts';
import { traceIs } from '../../schemas/tables/search.ts';
import { openTables, type Tables } from './sink-tables.ts';

const rows = 60_000;
const tenant = 'indexes';
let tables: Tables;
test.before(async () => {
  tables = await openTables();
  const shared = `'${tenant}' AS tenant_id, toDateTime64('2026-03-01 10:00:00', 3) AS received_at, number AS offset, toDateTime64('2026-03-01 10:00:00', 9) AS timestamp,
    intDiv(number, 6000) AS resource_id, map('n', toString(number)) AS attributes, 'i' AS attribute_types, unhex(leftPad(hex(number), 32, '0')) AS trace_id`;
  const columns = 'tenant_id, received_at, offset, timestamp, resource_id, attributes, attribute_types, trace_id';
  const { execute } = tables.columns;
  const run = execute.bind(tables.columns);
  await run(
    `INSERT INTO logs (${columns}, service, body) SELECT ${shared}, 'shop', concat('Order ', toString(number)) FROM numbers(${rows})`,
  );
  await run(
    `INSERT INTO spans (${columns}, service, name, duration) SELECT ${shared}, 'shop', concat('call ', toString(intDiv(number, 600))), number * 1000 FROM numbers(${rows})`,
  );
  await run(
    `INSERT INTO resources (tenant_id, resource_id, attributes, attribute_types) SELECT '${tenant}', number, map('host', concat('h', toString(number))), 's' FROM numbers(10)`,
  );
  for (const table of ['logs', 'spans']) await run(`OPTIMIZE TABLE ${table} FINAL`);
});
test.after.always(() => tables.close());

/** Returns the smallest number of granules after the steps of a plan, their total, and the number of matches. */
const planOf = async (
  text: string,
  signal: SearchSignal,
): Promise<readonly [selectedCount: number, all: number, found: number]> => {
  const search = parseSearch(text, signal);
  const { sql, parameters } = buildSearchCondition(search, signal);
  const from = `FROM ${signal === 'logs' ? 'logs' : 'spans'} WHERE tenant_id = {tenant:String} AND ${sql}`;
  const values = { ...parameters, tenant };
  const plan = await tables.columns.query<{ explain: string }>(`EXPLAIN indexes = 1 SELECT offset ${from}`, values);
  const [count] = await tables.columns.query<{ found: string }>(`SELECT count() AS found ${from}`, values);
  const granules = plan.flatMap(({ explain }) => {
    const [, selected, all] = /Granules: (\d+)\/(\d+)/.exec(explain) ?? [];
    return all === undefined ? [] : [[Number(selected), Number(all)] as const];
  });
  return [Math.min(...granules.map(([selected]) => selected)), granules[0]?.[1] ?? 0, Number(count?.found)];
};

const narrow: readonly (readonly [SearchSignal, string, number])[] = [
  ['logs', '12345', 1],
  ['logs', 'ORDER 12345', 1],
  ['logs', '"order 12345"', 1],
  ['logs', 'attribute.n:12345', 1],
  ['logs', 'n:12345', 1],
  ['logs', 'n:12345.0', 1],
  ['logs', 'n:12345 OR 777', 2],
  ['logs', 'order AND n:12345', 1],
  ['logs', `traceId:${'3039'.padStart(32, '0')}`, 1],
  ['logs', 'resource.host:h7', 6_000],
  ['logs', 'host:h7', 6_000],
  ['logs', 'host:h7 OR n:12345', 6_001],
  ['traces', 'host:h7', 6_000],
  ['logs', 'service:nobody', 0],
  ['logs', 'timestamp:>2026-03-02', 0],
  ['traces', 'n:12345', 1],
  ['traces', 'duration:>59ms', 999],
  ['traces', `traceId:${'3039'.padStart(32, '0')}`, 1],
];

for (const [signal, text, found] of narrow)
  test(`${text} in ${signal} reads few granules`, async (t) => {
    const [selected, all, count] = await planOf(text, signal);
    t.is(count, found);
    t.true(all >= 7);
    t.true(selected <= all / 2, `${selected} of ${all}`);
  });

for (const table of ['logs', 'spans'])
  test(`a missing trace is searched in the few coarse filters of ${table}`, async (t) => {
    const plan = await tables.columns.query<{ explain: string }>(
      `EXPLAIN indexes = 1 SELECT offset FROM ${table} WHERE tenant_id = '${tenant}' AND ${traceIs(`'${'ab'.repeat(16)}'`)}`,
    );
    const [, ofMany = ''] = plan
      .map(({ explain }) => explain)
      .join('\n')
      .split('Name: trace_of_many\n');
    t.regex(ofMany, /^.*\n\s*Parts: 0\/\d+\n\s*Granules: 0\/[1-9]/);
  });
