/**
 * Declares all kinds of telemetry queries as one type, for lists, panels, saved queries, alert rules, SLOs and exports.
 * A query contains no time: the caller sets range, step and limits (`run.ts`).
 */
import { z } from 'zod';
import { querySignals, signalDefinitions } from './signals/index.ts';
import { parseDuration } from './time.ts';

const search = z
  .string()
  .max(4096)
  .optional()
  .describe('A condition in the search language (`queries/search/README.md`); every record by default');
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
  limit: z.int().min(1).max(10_000).default(100).describe('Maximum number of groups, those with the largest values'),
});

/** PromQL. */
export const PromqlQuery = z.strictObject({
  kind: z.literal('promql'),
  expression: z.string().min(1).max(16_384),
});

export const sloFigures = ['sli', 'burn-rate', 'budget-left', 'budget-spent', 'coverage'] as const;
const day = parseDuration('1d') as bigint;
const window = z
  .string()
  .max(32)
  .refine((text) => {
    const ns = parseDuration(text);
    return ns !== undefined && ns >= day / 1440n && ns <= 366n * day;
  }, 'must be a duration from 1m to 366d, such as 5m, 1h or 30d');

/** Status of a service level objective, from its stored measurements. */
export const SloQuery = z
  .strictObject({
    kind: z.literal('slo'),
    sloId: z.string().min(1).max(128),
    figure: z
      .enum(sloFigures)
      .describe(
        'sli, budget-left, budget-spent and coverage are shares; burn-rate is the rate of budget consumption relative to the allowed rate',
      ),
    windows: z
      .array(window)
      .min(1)
      .max(2)
      .optional()
      .describe(
        'For burn-rate one or two windows, of which the lower rate is returned; for others one. By default the window of the objective',
      ),
  })
  .superRefine(({ figure, windows = [] }, context) => {
    const maxWindows = figure === 'burn-rate' ? 2 : figure === 'budget-left' ? 0 : 1;
    if (figure === 'burn-rate' && windows.length === 0)
      context.addIssue({ code: 'custom', path: ['windows'], message: 'is required for burn-rate' });
    if (windows.length > maxWindows)
      context.addIssue({
        code: 'custom',
        path: ['windows'],
        message: maxWindows === 0 ? `must not be set for ${figure}` : `must be one for ${figure}`,
      });
  });

/** Status of a synthetic check, from its stored verdicts: the query of its alert rule. */
export const CheckQuery = z.strictObject({
  kind: z.literal('check'),
  checkId: z.string().min(1).max(128),
});

const simpleQueries = [RowsQuery, AggregateQuery, MetricQuery, PromqlQuery, SloQuery, CheckQuery] as const;

/** Arithmetic over the results of other queries, joined by equal labels: `100 * errors / requests`. */
export const FormulaQuery = z.strictObject({
  kind: z.literal('formula'),
  expression: z.string().min(1).max(1024).describe('+ - * / % ^, parentheses, numbers and names of queries'),
  queries: z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), z.discriminatedUnion('kind', [...simpleQueries])),
});

const measuringQuery = z
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

export const anomalyDirections = ['both', 'above', 'below'] as const;

/** Series that are anomalous at the end of the range: by the scores of a detector, or by the history of a query. */
export const AnomalyQuery = z
  .strictObject({
    kind: z.literal('anomaly'),
    detectorId: z.string().min(1).max(128).optional().describe('Detector whose anomalies are returned'),
    query: measuringQuery.optional().describe('Query to score instead of a detector: at most 50,000 points in total'),
    step: durationSchema('10s', '1d').optional().describe('Step of the query, required with it'),
    falseAlarmsPerWeek: z
      .number()
      .min(0.001)
      .max(1000)
      .optional()
      .describe('Allowed false alarms of all series of the query; default 1. A detector has its own'),
    direction: z.enum(anomalyDirections).default('both').describe('Direction of deviations from the expected value'),
  })
  .superRefine(({ detectorId, query, step, falseAlarmsPerWeek }, context) => {
    const rules: readonly (readonly [isWrong: boolean, path: string, message: string])[] = [
      [(detectorId === undefined) === (query === undefined), 'detectorId', 'is required, or a query; not both'],
      [query !== undefined && step === undefined, 'step', 'is required with a query'],
      [query === undefined && step !== undefined, 'step', 'is defined by the detector: omit it'],
      [
        query === undefined && falseAlarmsPerWeek !== undefined,
        'falseAlarmsPerWeek',
        'is defined by the detector: omit it',
      ],
    ];
    for (const [isWrong, path, message] of rules)
      if (isWrong) context.addIssue({ code: 'custom', path: [path], message });
  });

/** Probability that values cross a limit within a horizon. */
export const ForecastQuery = z.strictObject({
  kind: z.literal('forecast'),
  query: measuringQuery,
  step: durationSchema('1m', '1d').default('1h'),
  history: durationSchema('10m', '366d')
    .default('14d')
    .describe('Length of the history, as far as it is retained; at most 4,000 steps'),
  horizon: durationSchema('1m', '366d').describe('Horizon of at most 1,000 steps, such as 4d'),
  until: z
    .union([z.strictObject({ above: z.number() }), z.strictObject({ below: z.number() })])
    .describe('Limit in the unit of the query'),
});

/** Any query. A saved query of an older version of this declaration can still be read. */
export const Query = z.discriminatedUnion('kind', [...simpleQueries, FormulaQuery, AnomalyQuery, ForecastQuery]);
export type Query = z.output<typeof Query>;

/** Version of this declaration. `readSaved` upgrades queries that an older version saved. */
export const queryVersion = 1;

/** Returns a saved query in the current form; undefined if it is from a later version or damaged. */
export const readSaved = (saved: unknown, version: number): Query | undefined => {
  if (version > queryVersion) return undefined;
  const parsed = Query.safeParse(saved);
  return parsed.success ? parsed.data : undefined;
};
export type RowsQuery = z.output<typeof RowsQuery>;
export type AggregateQuery = z.output<typeof AggregateQuery>;
export type MetricQuery = z.output<typeof MetricQuery>;
export type PromqlQuery = z.output<typeof PromqlQuery>;
export type SloQuery = z.output<typeof SloQuery>;
export type CheckQuery = z.output<typeof CheckQuery>;
export type FormulaQuery = z.output<typeof FormulaQuery>;
export type AnomalyQuery = z.output<typeof AnomalyQuery>;
export type ForecastQuery = z.output<typeof ForecastQuery>;
/** Queries that return values by step. */
export type MeasuringQuery = z.output<typeof measuringQuery>;
