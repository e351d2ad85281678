/** Cached steps: whatever lands, late or twice, or is erased in between, results equal those without a cache. */
import { runSeed } from '../parts.ts';
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { runPromqlBatch } from '../../queries/batch/promql.ts';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { readTranslation } from '../../queries/promql/settings.ts';
import type { PromqlQuery } from '../../queries/query.ts';
import { parseQuery, runWithoutCost } from '../../queries/run.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { randomOf } from './random.ts';
import { openTables, type Tables } from './sink-tables.ts';

const threads = openPromql({ size: 1 });
let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => Promise.all([tables.close(), threads.close()]));

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const beginMs = Date.UTC(2026, 2, 1, 9);

const timeOf = (atMs: number): string => `fromUnixTimestamp64Milli(toInt64(${atMs}), 'UTC')`;

/** Series 1 to 4 belong to a counter, 5 to 8 to a gauge, 9 to 12 to deltas received by OTLP. */
const metricOf = (id: number): 'counter' | 'gauge' | 'deltas' => {
  if (id <= 4) return 'counter';
  return id <= 8 ? 'gauge' : 'deltas';
};

interface Sample {
  readonly id: number;
  readonly atMs: number;
  readonly value: number;
}

const landSeries = async (tenant: string, ids: readonly number[]): Promise<void> => {
  const rows = ids.map((id) => {
    const isDelta = metricOf(id) === 'deltas';
    const what = isDelta ? `'sum', 1, true, 'otlp'` : `'${metricOf(id)}', 0, false, 'prometheus'`;
    return `('${tenant}', 'p', '${metricOf(id)}', ${id}, ${what}, map('k', '${id}', 'half', '${id % 2}'), 'ss', ${timeOf(beginMs)}, ${timeOf(beginMs + 24 * hourMs)})`;
  });
  await tables.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, source, attributes, attribute_types, first_seen, last_seen) VALUES ${rows.join(', ')}`,
  );
};

const landSamples = async (tenant: string, samples: readonly Sample[]): Promise<void> => {
  if (samples.length === 0) return;
  const rows = samples.map(
    ({ id, atMs, value }) =>
      `('${tenant}', 'p', ${timeOf(beginMs + 12 * hourMs)}, '${metricOf(id)}', ${id}, ${timeOf(atMs)}, ${value})`,
  );
  await tables.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value) VALUES ${rows.join(', ')}`,
  );
};

const expressions = [
  'counter',
  'sum by (half) (rate(counter[5m]))',
  'gauge offset 20m',
  'gauge offset -3m',
  'max_over_time(sum(rate(counter[2m]))[10m:1m])',
  'topk(2, gauge)',
  'increase(deltas_total[10m])',
  'rate(counter[5m]) / on (half) group_left sum by (half) (gauge)',
  'sum(gauge @ end())',
  'sum(gauge) + time() - start()',
  'absent(gauge{k="9"}) or gauge > 50',
  'avg_over_time(gauge[7m])',
  'quantile(0.5, gauge)',
  'nobody',
  'vector(1)',
].map((expression) => parseQuery({ kind: 'promql', expression }) as PromqlQuery);

const createReader = (tenant: string, isCached: boolean, reads: number[] = []): QueryReader => {
  const { source, getChangeCount, ...columns } = tables.columns.forTenant(tenant);
  const queryNative: typeof columns.queryNative = (sql, parameters, limits) => {
    reads.push(Number(parameters?.['from']) - 1);
    return columns.queryNative(sql, parameters, limits);
  };
  return {
    columns: isCached
      ? { ...columns, queryNative, ...(source && { source }), ...(getChangeCount && { getChangeCount }) }
      : columns,
    plan: defaultPlans['enterprise'] as Plan,
    nowMs: beginMs + 12 * hourMs,
    promql: { threads, translation: readTranslation(parseSettings({})) },
  };
};

const makeQuestion = (fromMs: number, toMs: number, stepMs: number) => ({
  range: { from: BigInt(fromMs) * 1_000_000n, to: BigInt(toMs) * 1_000_000n },
  stepMs,
});

let tenants = 0;
const rounds = Number(process.env['TEST_KEPT_ROUNDS'] ?? 1);

/** A tenant with samples every half minute, some late, some duplicate, some erased later. */
class World {
  readonly tenant = `kept-${tenants++}`;
  readonly #some: (max: number) => number;
  #ids = [1, 2, 3, 5, 6, 9, 10];
  #waiting: Sample[] = [];
  nowMs = beginMs + 3 * hourMs;

  constructor(random: () => number) {
    this.#some = (max) => Math.floor(random() * max);
  }

  async begin(): Promise<void> {
    await landSeries(this.tenant, this.#ids);
    await landSamples(this.tenant, this.#regular(beginMs, this.nowMs));
  }

  async goOn(): Promise<void> {
    const some = this.#some;
    const before = this.nowMs;
    this.nowMs += [10_000, 30_000, 5 * minuteMs][some(3)] ?? 0;
    this.#waiting.push(...this.#regular(Math.ceil(before / 30_000) * 30_000, this.nowMs));
    const late = { id: this.#ids[some(this.#ids.length)] ?? 1, atMs: this.nowMs - some(3 * hourMs), value: some(1000) };
    if (some(4) === 0) this.#waiting.push(late);
    const [first] = this.#waiting;
    if (some(6) === 0 && first !== undefined) this.#waiting.push(first);
    if (some(8) === 0) await this.#addSeries();
    const count = some(3) === 0 ? some(this.#waiting.length + 1) : this.#waiting.length;
    await landSamples(this.tenant, this.#waiting.splice(0, count));
    if (some(10) === 0) await this.#erase();
  }

  question() {
    const stepMs = [30_000, minuteMs][this.#some(2)] ?? minuteMs;
    return makeQuestion(this.nowMs - hourMs - this.#some(2) * hourMs, this.nowMs, stepMs);
  }

  #regular(fromMs: number, toMs: number): Sample[] {
    const numberOf = (id: number, atMs: number): number =>
      metricOf(id) === 'gauge' ? this.#some(100) : (atMs - beginMs) / 1000;
    const times = Array.from({ length: Math.ceil((toMs - fromMs) / 30_000) }, (_, at) => fromMs + at * 30_000);
    return times.flatMap((atMs) => this.#ids.map((id) => ({ id, atMs, value: numberOf(id, atMs) })));
  }

  #addSeries(): Promise<void> {
    this.#ids = [...new Set([...this.#ids, 1 + this.#some(12)])];
    return landSeries(this.tenant, this.#ids);
  }

  #erase(): Promise<void> {
    const before = timeOf(this.nowMs - this.#some(3 * hourMs));
    return tables.columns.execute(
      `DELETE FROM samples WHERE tenant_id = '${this.tenant}' AND timestamp < ${before} AND series_id = ${1 + this.#some(12)}`,
    );
  }
}

test('cached results equal uncached results, whatever lands or is erased in between', async (t) => {
  const seed = runSeed;
  t.log(`TEST_SEED=${seed}`);
  const random = randomOf(seed);
  for (let round = 0; round < rounds; round++) {
    const world = new World(random);
    await world.begin();
    for (let round = 0; round < 12; round++) {
      await world.goOn();
      const question = world.question();
      const cached = await runPromqlBatch(expressions, createReader(world.tenant, true), question);
      const plain = await runPromqlBatch(expressions, createReader(world.tenant, false), question);
      for (const [index, { expression }] of expressions.entries())
        t.deepEqual(cached[index], plain[index], `turn ${round}: ${expression}`);
    }
  }
});

const queriesOf = (expression: string): readonly PromqlQuery[] => [
  parseQuery({ kind: 'promql', expression }) as PromqlQuery,
];

/**
 * Queries an hour of a counter a second time; returns from when samples are read, in minutes before the end of the
 * hour, for each read.
 */
const readAgain = async (
  between: (tenant: string, nowMs: number) => Promise<void>,
  movedMs = 10_000,
): Promise<readonly number[]> => {
  const tenant = `kept-${tenants++}`;
  const nowMs = beginMs + 2 * hourMs;
  await landSeries(tenant, [1, 2]);
  const samples: Sample[] = [];
  for (let atMs = beginMs; atMs <= nowMs; atMs += 30_000) samples.push({ id: 1, atMs, value: 1 });
  await landSamples(tenant, samples);
  const queries = queriesOf('sum(rate(counter[5m]))');
  await runPromqlBatch(queries, createReader(tenant, true), makeQuestion(nowMs - hourMs, nowMs, 30_000));
  await between(tenant, nowMs);
  const reads: number[] = [];
  const later = makeQuestion(nowMs - hourMs + movedMs, nowMs + movedMs, 30_000);
  await runPromqlBatch(queries, createReader(tenant, true, reads), later);
  return reads.map((fromMs) => (nowMs - fromMs) / minuteMs);
};

for (const [what, between, movedMs, reads] of [
  ['nothing landed and no step is new, nothing is read', async () => undefined, 10_000, []],
  [
    'there is a new step, its samples are read from five minutes before its part on',
    (tenant: string, nowMs: number) => landSamples(tenant, [{ id: 1, atMs: nowMs + 30_000, value: 2 }]),
    30_000,
    [9],
  ],
  [
    'an earlier sample landed, samples are read from its part of eight minutes on',
    (tenant: string, nowMs: number) => landSamples(tenant, [{ id: 2, atMs: nowMs - 20 * minuteMs, value: 2 }]),
    10_000,
    [25],
  ],
  [
    'a sample from before the range landed, nothing is read',
    (tenant: string, nowMs: number) => landSamples(tenant, [{ id: 2, atMs: nowMs - 90 * minuteMs, value: 2 }]),
    10_000,
    [],
  ],
] as const)
  test(`if ${what}`, async (t) => {
    t.deepEqual(await readAgain(between, movedMs), reads);
  });

test('a query too large to batch is not read with others, and is cached when it runs alone', async (t) => {
  const tenant = `kept-${tenants++}`;
  await landSeries(tenant, [1]);
  await tables.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
    SELECT '${tenant}', 'p', ${timeOf(beginMs + 12 * hourMs)}, 'counter', 1, ${timeOf(beginMs)} + toIntervalMillisecond(250 * number), number FROM numbers(57600)`,
  );
  const queries = queriesOf('sum(rate(counter[1h]))');
  const nowMs = beginMs + 4 * hourMs;
  const question = makeQuestion(nowMs - 3 * hourMs, nowMs, minuteMs);
  const light = queriesOf('sum(counter)');
  const reads: number[] = [];
  const [heavy, lightResult] = await runPromqlBatch(
    [...queries, ...light],
    createReader(tenant, true, reads),
    question,
  );
  t.is(heavy, undefined);
  t.deepEqual(lightResult, (await runPromqlBatch(light, createReader(tenant, false), question))[0]);
  t.is(reads.length, 1);
  const alone = await runWithoutCost(queries[0] as PromqlQuery, createReader(tenant, true), question);
  t.deepEqual(await runPromqlBatch(queries, createReader(tenant, true), question), [{ result: alone }]);
});

/**
 * The order of events while three queries run in a batch: `read` for reads of samples, and the position of each query
 * with a result.
 */
const eventsOf = async (tenant: string): Promise<readonly (string | number)[]> => {
  const nowMs = beginMs + 2 * hourMs;
  const events: (string | number)[] = [];
  const responses = new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 30_000, singleTimeoutMs: 40_000 });
  const reader = createReader(tenant, true);
  const { queryNative } = reader.columns;
  const columns: typeof reader.columns = {
    ...reader.columns,
    queryNative: (sql, parameters, limits) => {
      if (events.at(-1) !== 'read') events.push('read');
      return queryNative(sql, parameters, limits);
    },
  };
  const queries = ['sum(gauge)', 'max(gauge)', 'sum(counter)'].flatMap(queriesOf);
  const pending = queries.map(async (query, at) => {
    await responses.run(query, { ...reader, columns }, makeQuestion(nowMs - hourMs, nowMs, 10_000));
    events.push(at);
  });
  await Promise.all(pending);
  return events;
};

test('in a large batch the first query has a result before others are read; a small batch is read together', async (t) => {
  for (const [count, ...rounds] of [
    [600, ['read', 0, 'read', 1, 2], ['read', 0, 1, 2]],
    [6, ['read', 0, 1, 2]],
  ] as const) {
    const tenant = `kept-${tenants++}`;
    await tables.columns.execute(
      `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
      SELECT '${tenant}', 'p', if(number % 2, 'gauge', 'counter'), number + 1, 'gauge', 'prometheus', map('k', toString(number)), 's', ${timeOf(beginMs)}, ${timeOf(beginMs + 24 * hourMs)} FROM numbers(${count})`,
    );
    await tables.columns.execute(
      `INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
      SELECT '${tenant}', 'p', ${timeOf(beginMs + 12 * hourMs)}, if(number % 2, 'gauge', 'counter'), number + 1, ${timeOf(beginMs + 119 * minuteMs)}, number FROM numbers(${count})`,
    );
    // With a cached result, no query runs alone; here each round reads a new step, because a sample arrives late.
    for (const [at, events] of rounds.entries()) {
      if (at > 0) await landSamples(tenant, [{ id: 2, atMs: beginMs + 118 * minuteMs, value: 7 }]);
      t.deepEqual(await eventsOf(tenant), events, `${count} series, time ${at + 1}`);
    }
  }
});
