/**
 * Aggregates of stored records equal those computed by a naive implementation: random records, random queries, both
 * signals.
 */
import '../../subjects/query-kinds.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { AggregateQuery, type QueryRequest } from '../../queries/query.ts';
import type { Range } from '../../queries/range.ts';
import { run } from '../../queries/run.ts';
import type { SearchSignal } from '../../queries/signals/index.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { propertyRuns } from '../budget.ts';
import { type NaiveQuery, naiveAggregate, type Seen, seenBy } from './naive-aggregates.ts';
import { requests } from './search-records.ts';
import { logsRequest, messageOf, openTables, receivedAtMs, type Tables, tracesRequest } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

type Signal = SearchSignal;
const encode = { logs: logsRequest, traces: tracesRequest } as const;
const sources: Readonly<Record<Signal, Source<RecordView>>> = { logs: logRecords, traces: spans };

const names: Readonly<Record<Signal, readonly string[]>> = {
  logs: [
    'k',
    'n',
    'a.b',
    "o'k",
    'resource.k',
    'attribute.resource.k',
    'scope.k',
    'service',
    'severity',
    'severityNumber',
    'body',
    'traceId',
  ],
  traces: ['k', 'n', 'a.b', "o'k", 'resource.k', 'scope.k', 'service', 'name', 'kind', 'status', 'duration', 'spanId'],
};
const inner: Readonly<Record<Signal, readonly string[]>> = {
  logs: ['severity:error', 'k:*', 'n:>5', 'NOT service:cart', 'payment', 'resource.k:foo'],
  traces: ['status:error', 'k:*', 'duration:>50ms', 'kind:client', 'resource.k:foo'],
};

const measure = (signal: Signal) =>
  fc
    .record({
      function: fc.constantFrom('count', 'rate', 'distinct', 'sum', 'avg', 'min', 'max', 'percentile'),
      field: fc.constantFrom(...names[signal]),
      percentile: fc.constantFrom(0, 50, 95, 99.9, 100),
      search: fc.option(fc.constantFrom(...inner[signal]), { nil: undefined }),
    })
    .map((each) =>
      each.function === 'rate' || (each.function === 'count' && each.percentile < 90)
        ? { ...each, field: undefined }
        : each,
    );

const queries = (signal: Signal): fc.Arbitrary<NaiveQuery> =>
  fc
    .record({
      search: fc.option(fc.constantFrom(...inner[signal]), { nil: undefined }),
      measures: fc.array(measure(signal), { minLength: 1, maxLength: 6 }),
      groupBy: fc.uniqueArray(fc.constantFrom(...names[signal]), { maxLength: 3 }),
    })
    .map(({ measures, ...rest }) => ({
      ...AggregateQuery.parse({
        kind: 'aggregate',
        signal,
        limit: 10_000,
        ...rest,
        measures: measures.map((each, index) => ({ ...each, as: `m${index}` })),
      }),
      signal,
    }));

const second = 1_000_000_000n;
const base = 1_772_359_200n * second;
const ranges = fc.constantFrom<Range>(
  { from: base - second, to: base + 10n * second },
  { from: base, to: base },
  { from: base + 1n, to: base + second },
  { from: base + 123_000_000n, to: base + 999_999_999n },
);

const createReader = (tenantId: string): TenantReader => ({
  columns: tables.columns.forTenant(tenantId),
  plan: defaultPlans['enterprise'] as Plan,
  nowMs: receivedAtMs + 60_000,
});

const decoded = (signal: Signal, message: ReturnType<typeof messageOf>, query: NaiveQuery): Seen[] => {
  const seen = seenBy(query);
  const { value, ...rest } = message;
  const all: Seen[] = [];
  // One view iterates over the records: each record is read before the next.
  for (const record of iterateItems(
    sources[signal],
    { ...rest, key: '', value: Buffer.from(value) },
    { topic: 'any', partition: 0 },
  ))
    all.push(seen(record));
  return all;
};

interface Keyed {
  readonly key: string;
}

/**
 * Leaves one attribute for each key, as OTLP requires. For duplicate keys, the engine's `attributes['key']` may return any
 * of them, while the view returns the first.
 */
const withUniqueKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withUniqueKeys);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [
      name,
      name === 'attributes'
        ? [...new Map((part as Keyed[]).map((each) => [each.key, each])).values()]
        : withUniqueKeys(part),
    ]),
  );
};

let runs = 0;
const land = async (signal: Signal, request: object) => {
  const tenant = `aggregates-${signal}-${++runs}`;
  const message = messageOf([encode[signal](request)], { tenantId: tenant, signal });
  await tables.land([message], { sink: signal });
  return { reader: createReader(tenant), message };
};

const isNear = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === 'number' &&
    typeof other === 'number' &&
    Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other)));

/** Returns only the differences, so that a failure is short. */
const same = (
  t: ExecutionContext,
  found: ReadonlyMap<string, readonly unknown[]>,
  expected: ReadonlyMap<string, readonly unknown[]>,
  query: object,
): void => {
  const different = [...new Set([...found.keys(), ...expected.keys()])].filter((key) => {
    const [one, other] = [found.get(key) ?? [], expected.get(key) ?? []];
    return one.length !== other.length || one.some((figure, index) => !isNear(figure, other[index]));
  });
  const of = (groups: ReadonlyMap<string, readonly unknown[]>) => different.map((key) => [key, groups.get(key)]);
  t.deepEqual(of(found), of(expected), JSON.stringify(query));
};

interface Landed {
  readonly query: NaiveQuery;
  readonly range: Range;
  readonly reader: TenantReader;
  readonly records: readonly Seen[];
}

const compareTable = async (t: ExecutionContext, { query, range, reader, records }: Landed): Promise<void> => {
  const { columns, rows } = await run(query, reader, { range });
  const groups = query.groupBy.length;
  t.is(columns.length, groups + query.measures.length);
  const found = new Map(rows.map((row) => [JSON.stringify(row.slice(0, groups)), row.slice(groups)]));
  same(t, found, naiveAggregate(query, records, range), query);
};

const stepMs = 300;
const stepNs = BigInt(stepMs) * 1_000_000n;
/** Groups without records in a step have no counts there. */
const none = ({ measures }: AggregateQuery) =>
  measures.map(({ function: kind }) => (['count', 'rate', 'distinct'].includes(kind) ? 0 : null));

const compareSeries = async (t: ExecutionContext, { query, range, reader, records }: Landed): Promise<void> => {
  const { series } = await run(query, reader, { range, stepMs });
  for (const [index, [start]] of (series[0]?.points ?? []).entries()) {
    const begin = BigInt(start) * 1_000_000n;
    const end = begin + stepNs - 1n;
    const step = { from: begin < range.from ? range.from : begin, to: end > range.to ? range.to : end };
    const found = new Map<string, unknown[]>();
    for (const { labels, points } of series) {
      const key = JSON.stringify(query.groupBy.map((name) => labels[name]));
      found.set(key, [...(found.get(key) ?? []), points[index]?.[1]]);
    }
    const expected = naiveAggregate(query, records, step);
    for (const key of found.keys()) if (!expected.has(key)) expected.set(key, none(query));
    same(t, found, expected, { query, start });
  }
};

for (const signal of ['logs', 'traces'] as const)
  test(`tables and series of ${signal} match figures calculated by hand from their records`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        requests[signal],
        fc.array(fc.tuple(queries(signal), ranges), { minLength: 12, maxLength: 12 }),
        async (request, queries) => {
          const { reader, message } = await land(signal, withUniqueKeys(request) as object);
          for (const [query, range] of queries) {
            const landed = { query, range, reader, records: decoded(signal, message, query) };
            await compareTable(t, landed);
            await compareSeries(t, landed);
          }
        },
      ),
      { numRuns: propertyRuns(4), endOnFailure: true },
    );
  });

type MeasureRequest = Extract<QueryRequest, { kind: 'aggregate' }>['measures'][number];

const hour = 3_600n * second;
/** The day before the messages were received. */
const dayBefore = base - 24n * hour;

/** One record at each of these times, with an attribute to search for it. */
const requestAt: Readonly<Record<Signal, (times: readonly bigint[]) => object>> = {
  logs: (times) => ({
    resourceLogs: [
      { scopeLogs: [{ logRecords: times.map((time) => ({ timeUnixNano: String(time), attributes: [kOf(time)] })) }] },
    ],
  }),
  traces: (times) => ({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: times.map((time) => ({
              traceId: Buffer.alloc(16, 1),
              spanId: Buffer.alloc(8, 1),
              name: 'a',
              attributes: [kOf(time)],
              startTimeUnixNano: String(time),
              endTimeUnixNano: String(time + second),
            })),
          },
        ],
      },
    ],
  }),
};
const kOf = (time: bigint): object => ({ key: 'k', value: { intValue: String((time / second / 60n) % 30n) } });

/** A reader whose statements appear to read enough data for their results to be cached; counts its statements. */
const costly = ({ columns, ...rest }: TenantReader) => {
  const counts = { statements: 0 };
  const query: TenantReader['columns']['query'] = (sql, parameters, limits) => {
    counts.statements++;
    return columns.query(sql, parameters, {
      ...limits,
      onCost: (cost) => limits?.onCost?.({ ...cost, bytesRead: cost.bytesRead + 1024 ** 3 }),
    });
  };
  return { counts, reader: { ...rest, columns: { ...columns, query } } };
};

for (const signal of ['logs', 'traces'] as const)
  test(`a repeated query for series of ${signal} while records land equals a first query`, async (t) => {
    const reader = createReader(`aggregates-again-${signal}`);
    const { source: _source, ...sourceless } = reader.columns;
    const again = costly(reader);
    const measures: MeasureRequest[] = [{ function: 'count' }, { function: 'percentile', field: 'k', percentile: 50 }];
    const queries: QueryRequest[] = [
      { kind: 'aggregate', signal, search: 'k:>20', measures },
      { kind: 'aggregate', signal, search: 'k:>20', measures, groupBy: ['k', 'service'] },
    ];
    const range = { from: dayBefore - 20n * 60n * second, to: dayBefore + 5n * hour };
    for (let round = 0; round < 8; round++) {
      const at = dayBefore + BigInt(round % 5) * hour + BigInt(round) * second;
      // Each round has different values, because groups with equal counts can have any order.
      const times = Array.from({ length: 30 }, (_, index) => at + BigInt(index) * 60n * second).filter(
        (_, index) => (index * index + round) % 5 < 2,
      );
      const message = messageOf([encode[signal](requestAt[signal](times))], {
        tenantId: reader.columns.tenantId,
        signal,
        offset: round,
      });
      await tables.land([message], { sink: signal });
      for (const query of queries) {
        const { series } = await run(query, { ...reader, columns: sourceless }, { range, stepMs: 60_000 });
        t.true(series.length > 0);
        t.deepEqual((await run(query, again.reader, { range, stepMs: 60_000 })).series, series);
      }
    }
    // The first query takes one statement, in addition to those for freshness.
    t.true(again.counts.statements > 8 * 2 * queries.length, `${again.counts.statements} statements`);
  });
