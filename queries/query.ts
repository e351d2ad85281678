/**
 * Declares all kinds of telemetry queries as one type, for lists, panels, saved queries, alert rules, SLOs and exports.
 * A query contains no time: the caller sets range, step and limits (`run.ts`).
 */
import { z } from 'zod';
import { comparisonOperators } from '../schemas/comparisons.ts';
import { querySignals, signalDefinitions } from './signals/index.ts';
import { parseDuration } from './time.ts';

const search = z
  .string()
  .max(4096)
  .optional()
  .describe('A condition in the search language (`docs/reference/search-language.md`); every record by default');
const field = z
  .string()
  .min(1)
  .max(512)
  .describe('A field or attribute in the syntax of the search language: service, http.route, resource.host.name');
const projectId = z
  .string()
  .min(1)
  .max(128)
  .optional()
  .describe('Only this project; the whole organization by default');

const signal = z
  .enum(querySignals)
  .describe(
    querySignals
      .map(
        (name) =>
          `${name}: ${signalDefinitions[name].records} (needs the entitlement ${signalDefinitions[name].entitlement})`,
      )
      .join('; '),
  );

/** Records of a data source, as a table. */
export const RowsQuery = z.strictObject({
  kind: z.literal('rows'),
  signal,
  search,
  projectId,
  order: z.enum(['newest', 'oldest']).default('newest'),
  fields: z.array(field).min(1).max(64).optional().describe('Columns of the table; entire records by default'),
  limit: z.int().min(1).max(10_000).default(100),
});

/** Comparison of the value of a group with a number. */
const comparison = {
  operator: z.enum(comparisonOperators),
  value: z.number().describe('In the unit of the result, such as ns for durations'),
};
const having = z
  .strictObject(comparison)
  .optional()
  .describe('Only groups whose value satisfies the comparison. With a step: the mean of their values');

/** One aggregate over records. `as` is the name of its column; default: `count`, `p95_duration` and so on. */
export const Measure = z.strictObject({
  function: z.enum(['count', 'rate', 'distinct', 'sum', 'avg', 'min', 'max', 'percentile']),
  field: field.optional().describe('Required except for count and rate'),
  percentile: z.number().min(0).max(100).optional().describe('Required for percentile, such as 95'),
  search: search.describe('Only records that also match this search, such as status:error'),
  as: z
    .string()
    .regex(/^[A-Za-z_]\w{0,63}$/)
    .optional(),
});
export type Measure = z.output<typeof Measure>;

/** Aggregates over records by group. With a step: series, one for each measure and group; without: a table. */
export const AggregateQuery = z.strictObject({
  kind: z.literal('aggregate'),
  signal,
  search,
  projectId,
  measures: z.array(Measure).min(1).max(16),
  groupBy: z.array(field).max(8).default([]),
  order: z
    .strictObject({ by: z.string().max(512), direction: z.enum(['ascending', 'descending']).default('descending') })
    .optional()
    .describe('A measure or field by name; by default the first measure, largest first'),
  having: z
    .strictObject({
      measure: z.string().max(512).optional().describe('Name of a measure; the first by default'),
      ...comparison,
    })
    .optional()
    .describe('Only groups whose measure satisfies the comparison. With a step: the measure over all steps'),
  limit: z.int().min(1).max(10_000).default(100).describe('Maximum number of groups'),
});

/**
 * A metric query of the builder. `overTime` aggregates the points of each series to one value per step, and `across`
 * aggregates the series to groups.
 */
export const MetricQuery = z.strictObject({
  kind: z.literal('metric'),
  metric: z.string().min(1).max(1024),
  search: search.describe('A condition on series by labels and resource attributes'),
  projectId,
  overTime: z
    .enum(['last', 'avg', 'min', 'max', 'sum', 'count', 'rate', 'increase', 'quantile'])
    .describe(
      'rate, increase: for counters and histograms, adjusted for resets; quantile: for the values of histograms',
    ),
  quantile: z.number().min(0).max(1).optional().describe('Required for quantile'),
  across: z.enum(['sum', 'avg', 'min', 'max', 'count', 'none']).default('sum').describe('none: each series separately'),
  groupBy: z.array(field).max(8).default([]),
  having,
  limit: z
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe('Maximum number of groups: those with the largest values, or the smallest in ascending order'),
  order: z
    .enum(['descending', 'ascending'])
    .optional()
    .describe('Order of groups by their mean value; descending by default'),
});

/** PromQL. */
export const PromqlQuery = z.strictObject({
  kind: z.literal('promql'),
  expression: z.string().min(1).max(16_384),
});

interface RegisteredSchemas {
  readonly query: z.ZodType<Query, QueryRequest>;
  readonly part: z.ZodType<PartQuery, PartQueryRequest>;
}
const registry: { schemas?: RegisteredSchemas } = {};
const getSchemas = (): RegisteredSchemas => {
  if (registry.schemas === undefined) throw new Error('no kinds of queries are registered');
  return registry.schemas;
};
const partQuery: z.ZodType<PartQuery, PartQueryRequest> = z.lazy(() => getSchemas().part);

/** Arithmetic over the results of other queries, joined by equal labels: `100 * errors / requests`. */
export const FormulaQuery = z.strictObject({
  kind: z.literal('formula'),
  expression: z.string().min(1).max(1024).describe('+ - * / % ^, parentheses, numbers and names of queries'),
  queries: z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), partQuery),
  having,
  limit: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Maximum number of groups: those with the largest values, which are sorted. All by default'),
});

/** Queries that return values by step. */
export const MeasuringQuery = z
  .discriminatedUnion('kind', [AggregateQuery, MetricQuery, PromqlQuery, FormulaQuery])
  .describe('Query with values by step: each group of its answer is a series');

/** Returns the schema of a duration within limits. */
const durationSchema = (min: string, max: string) =>
  z
    .string()
    .max(32)
    .refine((text) => {
      const ns = parseDuration(text);
      return ns !== undefined && ns >= (parseDuration(min) ?? 0n) && ns <= (parseDuration(max) ?? 0n);
    }, `must be a duration from ${min} to ${max}, such as 5m, 1h or 4d`);

/** Probability that values cross a limit within a horizon. */
export const ForecastQuery = z.strictObject({
  kind: z.literal('forecast'),
  query: MeasuringQuery,
  step: durationSchema('1m', '1d').default('1h'),
  history: durationSchema('10m', '366d')
    .default('14d')
    .describe('Length of the history, as far as it is retained; at most 4,000 steps'),
  horizon: durationSchema('1m', '366d').describe('Horizon of at most 1,000 steps, such as 4d'),
  until: z
    .union([z.strictObject({ above: z.number() }), z.strictObject({ below: z.number() })])
    .describe('Limit in the unit of the query'),
});

/**
 * Schemas of the kinds that formulas accept as parts, by the name of the kind. A definition of a kind elsewhere adds its
 * schema with `declare module`.
 */
export interface PartQuerySchemas {
  rows: typeof RowsQuery;
  aggregate: typeof AggregateQuery;
  metric: typeof MetricQuery;
  promql: typeof PromqlQuery;
}

/** Schemas of all kinds, by the name of the kind. A definition of a kind elsewhere adds its schema here or above. */
export interface QuerySchemas extends PartQuerySchemas {
  formula: typeof FormulaQuery;
  forecast: typeof ForecastQuery;
}

export type Query = z.output<QuerySchemas[keyof QuerySchemas]>;
/** A query as written by callers: properties with a default may be omitted. */
export type QueryRequest = z.input<QuerySchemas[keyof QuerySchemas]>;

type PartQuery = z.output<PartQuerySchemas[keyof PartQuerySchemas]>;
type PartQueryRequest = z.input<PartQuerySchemas[keyof PartQuerySchemas]>;

/** Any query, of the kinds that are registered when it is parsed. */
export const Query: z.ZodType<Query, QueryRequest> = z.lazy(() => getSchemas().query);

const discriminate = <Schema extends QuerySchemas[keyof QuerySchemas]>(
  schemas: readonly Schema[],
): z.ZodType<z.output<Schema>, z.input<Schema>> =>
  z.discriminatedUnion('kind', schemas as unknown as readonly [Schema, ...Schema[]]) as unknown as z.ZodType<
    z.output<Schema>,
    z.input<Schema>
  >;

/** Sets the schemas of all kinds, and of those that formulas accept as parts; `registerQueryKinds` calls it. */
export const registerQuerySchemas = (
  schemas: readonly QuerySchemas[keyof QuerySchemas][],
  parts: readonly PartQuerySchemas[keyof PartQuerySchemas][],
): void => {
  registry.schemas = {
    query: discriminate(schemas),
    part: discriminate(parts),
  };
};

/** Version of this declaration. `parseSavedQuery` upgrades queries that an older version saved. */
export const queryVersion = 1;

/** Returns a saved query in the current form; undefined if it is from a later version or damaged. */
export const parseSavedQuery = (saved: unknown, version: number): Query | undefined => {
  if (version > queryVersion) return undefined;
  const parsed = Query.safeParse(saved);
  return parsed.success ? parsed.data : undefined;
};
export type RowsQuery = z.output<typeof RowsQuery>;
export type AggregateQuery = z.output<typeof AggregateQuery>;
export type MetricQuery = z.output<typeof MetricQuery>;
export type Having = NonNullable<MetricQuery['having']>;
export type PromqlQuery = z.output<typeof PromqlQuery>;
export type FormulaQuery = z.output<typeof FormulaQuery>;
export type ForecastQuery = z.output<typeof ForecastQuery>;
export type MeasuringQuery = z.output<typeof MeasuringQuery>;
