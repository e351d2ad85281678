/** Batched queries have the same results as single ones, and a failing query does not fail the others. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { runAggregateBatch, toAggregateBatchKey } from '../../queries/batch/aggregates.ts';
import { runMetricBatch } from '../../queries/batch/metrics.ts';
import { runPromqlBatch } from '../../queries/batch/promql.ts';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { readTranslation } from '../../queries/promql/settings.ts';
import type { AggregateQuery, MetricQuery, PromqlQuery, QueryRequest } from '../../queries/query.ts';
import type { QueryContext } from '../../queries/query-result.ts';
import { parseQuery, runWithoutCost } from '../../queries/run.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { openTables, receivedAtMs, type Tables } from './sink-tables.ts';

const threads = openPromql({ size: 1 });
let tables: Tables;

const at = `toDateTime64('2026-03-01 10:00:00.000000000', 9, 'UTC')`;
const received = `toDateTime64('2026-03-01 10:00:00.123', 3, 'UTC')`;

/**
 * Ten metrics of four services: a gauge, a counter with resets, one from remote-write, and histograms whose buckets are
 * series.
 */
const insertMetrics = async ({ columns }: Tables): Promise<void> => {
  const kinds = "['gauge', 'sum', 'counter', 'gauge', 'sum']";
  await columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
    SELECT 'together', if(number % 3 = 0, 'one', 'two'), concat('m', toString(number % 10)), number + 1, ${kinds}[number % 5 + 1], if(number % 10 = 4, 1, 2), number % 5 != 0,
      if(number % 2 = 0, 'ms', ''), if(number % 5 = 2, 'prometheus', 'otlp'), concat('service-', toString(intDiv(number, 10) % 4)), 7,
      map('k', toString(number % 7), 'zone', if(number % 4 = 0, '', 'a')), 'ss', ${received}, ${received} FROM numbers(80)`,
  );
  await columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value)
    SELECT 'together', 'one', ${received}, 0, 1, concat('m', toString(number % 80 % 10)), number % 80 + 1, ${at} - 7 * intDiv(number, 80),
      if(number % 13 = 0, 0.1, (number * 7919 % 1000) / 7) FROM numbers(8000) WHERE number % 80 != 33`,
  );
};

const insertLogs = async ({ columns }: Tables): Promise<void> => {
  await columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
    SELECT 'together', if(number % 3 = 0, 'one', 'two'), ${received}, 0, 1, number, ${at} - number / 10, ${at}, concat('service-', toString(number % 5)), number % 24, '', if(number % 4 = 0, 'payment failed', 'done'), 's',
      map('took', toString(number % 997), 'user', concat('u', toString(number % 17))), 'ss' FROM numbers(4000)`,
  );
};

test.before(async () => {
  tables = await openTables();
  await insertMetrics(tables);
  await insertLogs(tables);
});
test.after.always(() => Promise.all([tables.close(), threads.close()]));

const endMs = Date.UTC(2026, 2, 1, 10);
const context: QueryContext = {
  range: { from: BigInt(endMs - 300_000) * 1_000_000n, to: BigInt(endMs) * 1_000_000n - 1n },
  stepsFrom: 'range',
};
const stepped: QueryContext = { ...context, stepMs: 60_000 };

const createReader = (statements: string[] = [], refuse: (sql: string) => boolean = () => false): QueryReader => {
  const columns = tables.columns.forTenant('together');
  const onStatement = (sql: string): void => {
    statements.push(sql);
    if (refuse(sql)) throw new Error('the engine refuses this one');
  };
  return {
    columns: {
      tenantId: 'together',
      query: async (sql, ...rest) => {
        onStatement(sql);
        return columns.query(sql, ...rest);
      },
      queryNative: async (sql, ...rest) => {
        onStatement(sql);
        return columns.queryNative(sql, ...rest);
      },
      getStoredUpToMs: (table) => columns.getStoredUpToMs(table),
    },
    plan: defaultPlans['enterprise'] as Plan,
    nowMs: receivedAtMs,
    promql: { threads, translation: readTranslation(parseSettings({})) },
  };
};

const count = { function: 'count' } as const;
const logs = (input: object): QueryRequest => ({ kind: 'aggregate', signal: 'logs', measures: [count], ...input });
const aggregates: readonly QueryRequest[] = [[], ['service'], ['service', 'user']].flatMap((groupBy) =>
  [
    logs({}),
    logs({ search: 'service:service-1' }),
    logs({ search: 'payment severity:error', measures: [count, { function: 'rate', as: 'r' }] }),
    logs({ search: '!!!' }),
    logs({ search: 'nothing OR service:service-9' }),
    logs({
      search: 'NOT service:service-2',
      measures: [
        { function: 'percentile', field: 'took', percentile: 95 },
        { function: 'distinct', field: 'user', search: 'payment' },
        { function: 'max', field: 'timestamp' },
        { function: 'min', field: 'took', search: 'service:service-9' },
      ],
    }),
    logs({ search: 'took:>500', measures: [{ function: 'count', field: 'user', as: 'n' }, count] }),
  ].map((query) => ({ ...query, groupBy, limit: 10_000 }) as QueryRequest),
);

const metric = (input: object): QueryRequest =>
  ({ kind: 'metric', overTime: 'avg', across: 'sum', limit: 10_000, ...input }) as QueryRequest;
const metrics: readonly QueryRequest[] = [
  ...(['last', 'avg', 'min', 'max', 'sum', 'count'] as const).flatMap((overTime) =>
    (['sum', 'avg', 'min', 'max', 'count'] as const).map((across) =>
      metric({ metric: 'm0', overTime, across, groupBy: ['service'] }),
    ),
  ),
  metric({ metric: 'm1', overTime: 'rate', groupBy: ['service', 'k'] }),
  metric({ metric: 'm6', overTime: 'increase', groupBy: ['zone'] }),
  metric({ metric: 'm7', overTime: 'increase', search: 'service:service-1 OR k:3' }),
  metric({ metric: 'm4', overTime: 'rate', projectId: 'two' }),
  metric({ metric: 'm0', overTime: 'rate' }),
  metric({ metric: 'm0', search: 'service:nobody' }),
  metric({ metric: 'missing', groupBy: ['service'] }),
];

const promql = (expression: string): QueryRequest => ({ kind: 'promql', expression });
const expressions: readonly QueryRequest[] = [
  'm2',
  'm7{k="3"}',
  'm7{k!="3",zone=~"a|b"} > 20',
  'sum by (k) (rate(m2[5m]))',
  'sum by (k) (rate(m2[2m])) / on (k) count by (k) (m7)',
  'avg_over_time(m2{zone=""}[3m]) or m7',
  'absent(m2{k="none"})',
  '{__name__=~"m[27]"}',
  'quantile(0.9, m7 offset 1m)',
  'vector(1)',
  'sum(m2',
  'm2 + on (nothing) m7',
  'nobody',
].map(promql);

const alone = async (query: QueryRequest, input: QueryContext): Promise<object> => {
  try {
    return { result: await runWithoutCost(parseQuery(query), createReader(), input) };
  } catch (error) {
    return { error };
  }
};

test('results over records are the same in a batch and alone', async (t) => {
  const queries = aggregates.map((query) => parseQuery(query) as AggregateQuery);
  for (const [key, members] of Map.groupBy(queries, (query) => toAggregateBatchKey(query, context))) {
    t.truthy(key);
    const statements: string[] = [];
    const outcomes = await runAggregateBatch(members, createReader(statements), [context]);
    t.is(statements.length, 1);
    for (const [index, query] of members.entries())
      t.deepEqual(outcomes[index], (await alone(query, context)) as never, JSON.stringify(query));
  }
});

test('results over records of adjacent ranges are the same in a batch and alone', async (t) => {
  const second = 1_000_000_000n;
  const near = [0n, 1n, 100n].map(
    (seconds): QueryContext => ({
      ...context,
      range: { from: context.range.from + seconds * second, to: context.range.to - seconds * (second / 4n) - 3n },
    }),
  );
  // Every second query is enough to cover all measures and groupings.
  const queries = aggregates.filter((_, at) => at % 2 === 1).map((query) => parseQuery(query) as AggregateQuery);
  const questions = queries.flatMap((query) => near.map((input) => ({ query, given: input })));
  for (const [key, members] of Map.groupBy(questions, ({ query, given }) => toAggregateBatchKey(query, given))) {
    t.truthy(key);
    const statements: string[] = [];
    const outcomes = await runAggregateBatch(
      members.map(({ query }) => query),
      createReader(statements),
      members.map(({ given }) => given) as [QueryContext],
    );
    t.is(statements.length, 1);
    for (const [index, { query, given }] of members.entries())
      t.deepEqual(
        outcomes[index],
        (await alone(query, given)) as never,
        `${JSON.stringify(query)} ${given.range.from}`,
      );
  }
  const far = { ...context, range: { from: context.range.from - 3600n * second, to: context.range.to } };
  t.not(
    toAggregateBatchKey(queries[0] as AggregateQuery, far),
    toAggregateBatchKey(queries[0] as AggregateQuery, context),
  );
});

test('series over records from the start of a range are the same batched and alone', async (t) => {
  const queries = aggregates
    .map((query) => parseQuery(query) as AggregateQuery)
    .filter(({ groupBy }) => groupBy.length === 0);
  const statements: string[] = [];
  // The range covers the first and the last step only partly, and has steps before all records.
  const input: QueryContext = {
    ...stepped,
    range: { from: context.range.from - 600_000_000_000n, to: context.range.to - 9n },
  };
  const outcomes = await runAggregateBatch(queries, createReader(statements), [input]);
  t.is(statements.length, 1);
  for (const [index, query] of queries.entries()) {
    t.truthy(toAggregateBatchKey(query, input));
    t.is(toAggregateBatchKey(query, { ...input, stepsFrom: 'epoch' }), undefined);
    t.deepEqual(outcomes[index], (await alone(query, input)) as never, JSON.stringify(query));
  }
});

for (const [form, given] of Object.entries({ tables: context, series: stepped })) {
  test(`metrics are the same batched and alone, as ${form}`, async (t) => {
    const statements: string[] = [];
    const queries = metrics.map((query) => parseQuery(query) as MetricQuery);
    const outcomes = await runMetricBatch(queries, createReader(statements), given);
    t.true(statements.length <= 12, `${statements.length} statements`);
    const near = (_key: string, value: unknown): unknown => (typeof value === 'number' ? value.toPrecision(12) : value);
    const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value, near) ?? 'null');
    for (const [index, query] of queries.entries()) {
      const expected = await alone(query, given);
      t.deepEqual(shown(outcomes[index]), shown(expected), JSON.stringify(query));
    }
  });

  test(`PromQL results are the same batched and alone, as ${form}`, async (t) => {
    const statements: string[] = [];
    const end = { ...given, range: { from: given.range.from, to: BigInt(endMs) * 1_000_000n } };
    const queries = expressions.map((query) => parseQuery(query) as PromqlQuery);
    const outcomes = await runPromqlBatch(queries, createReader(statements), end);
    t.true(statements.length <= 8, `${statements.length} statements`);
    for (const [index, query] of queries.entries()) {
      const outcome = outcomes[index];
      // A selector without a name is queried alone.
      if (query.expression.startsWith('{')) t.is(outcome, undefined);
      else t.deepEqual(outcome, (await alone(query, end)) as never, query.expression);
    }
  });
}

test('instant PromQL queries are batched, regardless of how far their windows reach back', async (t) => {
  const statementsOf = async (...minutes: readonly number[]): Promise<number> => {
    const statements: string[] = [];
    const batcher = new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 600_000, singleTimeoutMs: 600_000 });
    const to = BigInt(endMs) * 1_000_000n;
    const pending = minutes.map((minute, index) =>
      batcher.run(parseQuery(promql(index === 0 ? 'm2' : 'max(m2)')), createReader(statements), {
        range: { from: to - BigInt(minute) * 60_000_000_000n, to },
        stepsFrom: 'range',
      }),
    );
    for (const result of await Promise.all(pending)) t.is(result.form, 'table');
    return statements.length;
  };
  t.is(await statementsOf(5, 30), await statementsOf(5));
});

test('concurrent queries are batched, and a failing query fails alone', async (t) => {
  const statements: string[] = [];
  const reader = createReader(statements, (sql) => sql.includes('FROM logs') && (sql.match(/count/g) ?? []).length > 2);
  const batcher = new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 600_000, singleTimeoutMs: 600_000 });
  const queries = [
    ...[1, 2, 3].map((service) => logs({ search: `service:service-${service}` })),
    logs({ search: 'service:service-1' }),
    ...metrics.slice(0, 10),
    metric({ metric: 'm0', search: 'k:' }),
    {
      kind: 'formula',
      expression: '100 * a / b',
      queries: { a: logs({ search: 'payment' }), b: logs({}) },
    } as QueryRequest,
  ];
  const settled = await Promise.allSettled(queries.map((query) => batcher.run(parseQuery(query), reader, context)));
  for (const [index, query] of queries.entries()) {
    const found = settled[index];
    const expected = (await alone(query, context)) as { readonly result?: unknown };
    t.is(found?.status, expected.result === undefined ? 'rejected' : 'fulfilled', JSON.stringify(query));
    if (query.kind !== 'metric') t.deepEqual(found?.status === 'fulfilled' && found.value, expected.result as never);
  }
});
