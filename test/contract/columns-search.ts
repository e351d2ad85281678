/** Rows are found by words and attributes once inserted, both before and after parts are merged with their indexes. */
import { randomUUID } from 'node:crypto';
import { buildSearchCondition } from '../../queries/search/condition.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { ValueReader } from '../../queries/values.ts';
import {
  buildAttributeEqualsSql,
  buildAttributeTextSql,
  buildBodyHasAllWords,
  traceIs,
} from '../../schemas/tables/search.ts';
import { test } from '../limit-concurrency.ts';
import { blockOf, type ColumnsContract, quoted, someTenant, tableNamed } from './columns-harness.ts';

const rows = 20_000;
/** Granule boundaries differ, and one lookup in a hundred is a false positive, so several values are searched. */
const orders = [12345, 4711, 18000];
const conditions: Readonly<Record<string, (order: number) => string>> = {
  text_words: (order) => buildBodyHasAllWords(`ORDER ${order}`),
  fresh_text_words: (order) => buildBodyHasAllWords(`ORDER ${order}`),
  attribute_pairs: (order) => buildAttributeEqualsSql("'n'", `'${order}'`),
  trace: (order) => traceIs(`'${order.toString(16).padStart(32, '0')}'`),
};

export const columnsSearch = ({ name, under }: ColumnsContract): void => {
  test(`${name}: rows are found before and after their part is merged, by few granules if an index applies`, async (t) => {
    const { columns } = under();
    const tenant = someTenant();
    const block = await blockOf(
      under(),
      tableNamed('logs'),
      {
        tenant_id: quoted(tenant),
        timestamp: "'2026-03-01 10:00:00'",
        service: "'shop'",
        resource_id: 'number',
        body: "concat('Order ', toString(number))",
        attributes: "map('n', toString(number))",
        trace_id: "unhex(leftPad(hex(number), 32, '0'))",
      },
      rows,
    );
    // Prevents earlier merges of the part.
    await columns.execute('SYSTEM STOP MERGES logs');
    t.teardown(() => columns.execute('SYSTEM START MERGES logs'));
    await columns.insert(block, randomUUID());
    const narrowed = new Set<string>();
    const isNarrowed = async (index: string, from: string): Promise<boolean> => {
      const explained = `EXPLAIN indexes = 1 SELECT count() ${from}`;
      const plans = columns
        .listServers()
        .map((server) => server.columns.query<{ explain: string }>(explained, { tenant }));
      // The block is on one of the servers.
      return (await Promise.all(plans)).some((plan) => {
        const text = plan.map(({ explain }) => explain).join('\n');
        const [, used = ''] = text.split(`Name: ${index}\n`);
        const [, selectedGranules, all] = /Granules: (\d+)\/(\d+)/.exec(used) ?? [];
        return Number(selectedGranules) < Number(all);
      });
    };
    const find = async (): Promise<void> => {
      narrowed.clear();
      for (const order of orders)
        for (const [index, condition] of Object.entries(conditions)) {
          const from = `FROM logs WHERE tenant_id = {tenant:String} AND ${condition(order)}`;
          t.deepEqual(
            await columns.forTenant(tenant).query(`SELECT body ${from}`),
            [{ body: `Order ${order}` }],
            index,
          );
          if (await isNarrowed(index, from)) narrowed.add(index);
        }
    };
    await find();
    t.deepEqual([...narrowed].toSorted(), ['fresh_text_words', 'trace']);
    await columns.execute('SYSTEM START MERGES logs');
    await columns.execute('OPTIMIZE TABLE logs PARTITION 20260301 FINAL');
    await find();
    t.deepEqual([...narrowed].toSorted(), ['attribute_pairs', 'text_words', 'trace']);
  });

  test(`${name}: values inside arrays, maps and bodies are found and grouped by path`, async (t) => {
    const { columns } = under();
    const tenant = someTenant();
    const block = await blockOf(
      under(),
      tableNamed('logs'),
      {
        tenant_id: quoted(tenant),
        timestamp: "'2026-03-01 10:00:00'",
        service: "'shop'",
        resource_id: '1',
        attributes: `if(number % 2 = 0, [('hdr', '["a","b"]'), ('user', '{}'), ('hdr', 'a'), ('hdr', 'b'), ('user.id', concat('u-', toString(number)))], [('hdr', 'b'), ('user.id', concat('u-', toString(number)))])`,
        attribute_types: "if(number % 2 = 0, 'jjSSS+', 'ss')",
        body_values: "[('order.id', concat('o-', toString(number))), ('tags', 'x'), ('tags', 'y')]",
        body_value_types: "'SSS+'",
      },
      100,
    );
    await columns.insert(block, randomUUID());
    const resourceRow = {
      tenant_id: quoted(tenant),
      resource_id: '1',
      service: "'shop'",
      attributes: "[('args', '[1,2]')]",
    };
    const types = { attribute_types: "'j'" };
    // A process of an earlier version stored the resource without the values inside its arrays.
    const nested = { nested_keys: "['args', 'args']", nested_values: "['1', '2']", nested_types: "'ii'" };
    const empty = "CAST([], 'Array(String)')";
    for (const values of [{ nested_keys: empty, nested_values: empty, nested_types: "''" }, nested]) {
      const row = { ...resourceRow, ...types, ...values };
      await columns.insert(await blockOf(under(), tableNamed('resources'), row, 1), randomUUID());
    }
    await columns.execute('OPTIMIZE TABLE resources FINAL');
    const reader = columns.forTenant(tenant);
    for (const [search, found] of [
      ['hdr:a', 50],
      ['hdr:b', 100],
      ['NOT hdr:a', 50],
      ['user.id:u-7', 1],
      ['user.id:u-8', 1],
      ['body.order.id:o-42', 1],
      ['body.tags:y', 100],
      ['body.tags:z', 0],
      ['args:2', 100],
      ['resource.args:>2', 0],
    ] as const) {
      const { sql, parameters } = buildSearchCondition(parseSearch(search, 'logs'), 'logs');
      const rows = await reader.query<{ n: string }>(
        `SELECT toString(count()) AS n FROM logs WHERE tenant_id = {tenant:String} AND ${sql}`,
        parameters,
      );
      t.deepEqual(rows, [{ n: String(found) }], search);
    }
    for (const [name, groups] of [
      [
        'hdr',
        [
          ['a', 50],
          ['b', 100],
        ],
      ],
      [
        'body.tags',
        [
          ['x', 100],
          ['y', 100],
        ],
      ],
      [
        'args',
        [
          ['1', 100],
          ['2', 100],
        ],
      ],
    ] as const) {
      const values = new ValueReader('logs');
      const { text } = values.getEachValue(name);
      const rows = await reader.query<{ value: string; n: number }>(
        `SELECT ${text} AS value, toUInt32(count()) AS n FROM ${values.buildSource('true')} GROUP BY value ORDER BY value`,
        { from: '0', to: String(2n ** 62n) },
      );
      t.deepEqual(
        rows.map(({ value, n }) => [value, n]),
        groups.map(([value, n]) => [value, n]),
        name,
      );
    }
  });

  test(`${name}: if a record has a key twice, the first value is read, in whichever position`, async (t) => {
    const { columns } = under();
    const tenant = someTenant();
    const attribute = "if(i = at, ('n', 'first'), if(i = at + 1, ('n', 'second'), (concat('k', toString(i)), 'v')))";
    const block = await blockOf(
      under(),
      tableNamed('logs'),
      {
        tenant_id: quoted(tenant),
        service: "'shop'",
        resource_id: 'number',
        attributes: `arrayMap((i, at) -> ${attribute}, range(2 + intDiv(number, 10)), arrayWithConstant(2 + intDiv(number, 10), number % 10 % (1 + intDiv(number, 10))))`,
      },
      120,
    );
    await columns.insert(block, randomUUID());
    const text = buildAttributeTextSql("'n'");
    const reader = columns.forTenant(tenant);
    t.deepEqual(
      await reader.query(
        `SELECT ${text} AS value, count() AS n FROM logs WHERE tenant_id = {tenant:String} GROUP BY value`,
      ),
      [{ value: 'first', n: '120' }],
    );
    for (const [value, n] of [
      ['first', '120'],
      ['second', '0'],
    ] as const)
      for (const condition of [`${text} = '${value}'`, buildAttributeEqualsSql("'n'", `'${value}'`)])
        t.deepEqual(
          await reader.query(`SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String} AND ${condition}`),
          [{ n }],
          condition,
        );
  });
};
