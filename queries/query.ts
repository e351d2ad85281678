/**
 * What can be asked of telemetry, as one declared type: lists, panels, saved queries, alert rules, SLOs and exports all hold one of
 * these. A query has no time in it: range, step and limits are the caller's (`run.ts`).
 */
import { z } from 'zod';
import { querySignals, signals } from './signals/index.ts';
import { parseDuration } from './time.ts';

const search = z
  .string()
  .max(4096)
  .optional()
  .describe('A condition in the search language (`queries/search/README.md`); without it, every record');
const field = z
  .string()
  .min(1)
  .max(512)
  .describe('A field or attribute, named as in the search language: service, http.route, resource.host.name');
const projectId = z
  .string()
  .min(1)
  .max(128)
  .optional()
  .describe('Only this project; without it the whole organization');

const signal = z
  .enum(querySignals)
  .describe(
    querySignals
      .map((name) => `${name}: ${signals[name].records} (needs the entitlement ${signals[name].entitlement})`)
      .join('; '),
  );

/** Records of a signal, as a table. */
export const RowsQuery = z.strictObject({
  kind: z.literal('rows'),
  signal,
  search,
  projectId,
  order: z.enum(['newest', 'oldest']).default('newest'),
  fields: z.array(field).min(1).max(64).optional().describe('Columns of the table; without it whole records'),
  limit: z.int().min(1).max(10_000).default(100),
});

/** One figure over records. `as` names its column; without it `count`, `p95_duration` and so on. */
export const Measure = z.strictObject({
  function: z.enum(['count', 'rate', 'distinct', 'sum', 'avg', 'min', 'max', 'percentile']),
  field: field.optional().describe('Required but for count and rate'),
  percentile: z.number().min(0).max(100).optional().describe('Required for percentile, such as 95'),
  search: search.describe('Only of records that match this as well, such as status:error'),
  as: z
    .string()
    .regex(/^[A-Za-z_]\w{0,63}$/)
    .optional(),
});
export type Measure = z.output<typeof Measure>;

/** Figures over records by group. With a step: series, one for each measure and group; without: a table. */
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
    .describe('A measure or field by name; without it the first measure, largest first'),
  limit: z.int().min(1).max(10_000).default(100).describe('Most groups'),
});

/** A metric by builder: points of each series become one value a step (`overTime`), and series become groups (`across`). */
export const MetricQuery = z.strictObject({
  kind: z.literal('metric'),
  metric: z.string().min(1).max(1024),
  search: search.describe('A condition on series: labels and resource attributes'),
  projectId,
  overTime: z
    .enum(['last', 'avg', 'min', 'max', 'sum', 'count', 'rate', 'increase', 'quantile'])
    .describe('rate, increase: of counters and histograms, resets counted; quantile: of the values of histograms'),
  quantile: z.number().min(0).max(1).optional().describe('Required for quantile'),
  across: z.enum(['sum', 'avg', 'min', 'max', 'count', 'none']).default('sum').describe('none: every series by itself'),
  groupBy: z.array(field).max(8).default([]),
  limit: z.int().min(1).max(10_000).default(100).describe('Most groups, those with the largest values'),
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

/** How a service level objective stands, from what was measured of it. */
export const SloQuery = z
  .strictObject({
    kind: z.literal('slo'),
    sloId: z.string().min(1).max(128),
    figure: z
      .enum(sloFigures)
      .describe(
        'sli, budget-left, budget-spent and coverage are shares; burn-rate is how many times faster than it may the budget is spent',
      ),
    windows: z
      .array(window)
      .min(1)
      .max(2)
      .optional()
      .describe(
        "Of burn-rate one or two, of which the lower rate is answered; of others one; without it, the objective's own",
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
        message: maxWindows === 0 ? `must be left out for ${figure}` : `must be one for ${figure}`,
      });
  });

/** How a synthetic check stands, as it was judged: what its alert rule asks. */
export const CheckQuery = z.strictObject({
  kind: z.literal('check'),
  checkId: z.string().min(1).max(128),
});

const plain = [RowsQuery, AggregateQuery, MetricQuery, PromqlQuery, SloQuery, CheckQuery] as const;

/** Arithmetic over the results of other queries, joined by equal labels: `100 * errors / requests`. */
export const FormulaQuery = z.strictObject({
  kind: z.literal('formula'),
  expression: z.string().min(1).max(1024).describe('+ - * / % ^, parentheses, numbers, names of queries'),
  queries: z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), z.discriminatedUnion('kind', [...plain])),
});

const measuring = z
  .discriminatedUnion('kind', [AggregateQuery, MetricQuery, PromqlQuery, FormulaQuery])
  .describe('Figures by step: each group of its answer is a series');

/** A duration within limits. */
const durationFrom = (min: string, max: string) =>
  z
    .string()
    .max(32)
    .refine((text) => {
      const ns = parseDuration(text);
      return ns !== undefined && ns >= (parseDuration(min) ?? 0n) && ns <= (parseDuration(max) ?? 0n);
    }, `must be a duration from ${min} to ${max}, such as 5m, 1h or 4d`);

export const anomalyDirections = ['both', 'above', 'below'] as const;

/** Which series are unusual at the end of the range: of a detector by what it scored, of a query by what came before. */
export const AnomalyQuery = z
  .strictObject({
    kind: z.literal('anomaly'),
    detectorId: z.string().min(1).max(128).optional().describe('Its anomalies'),
    query: measuring.optional().describe('In place of a detector: 50,000 points in all are scored'),
    step: durationFrom('10s', '1d').optional().describe('Of the query: required with it'),
    falseAlarmsPerWeek: z
      .number()
      .min(0.001)
      .max(1000)
      .optional()
      .describe('Of the query: for all its series together; without it 1. A detector has its own'),
    direction: z.enum(anomalyDirections).default('both').describe('Which way from what was expected'),
  })
  .superRefine(({ detectorId, query, step, falseAlarmsPerWeek }, context) => {
    const found: readonly (readonly [isWrong: boolean, path: string, message: string])[] = [
      [(detectorId === undefined) === (query === undefined), 'detectorId', 'is required, or a query; not both'],
      [query !== undefined && step === undefined, 'step', 'is required with a query'],
      [query === undefined && step !== undefined, 'step', 'is that of the detector: leave it out'],
      [
        query === undefined && falseAlarmsPerWeek !== undefined,
        'falseAlarmsPerWeek',
        'is that of the detector: leave it out',
      ],
    ];
    for (const [isWrong, path, message] of found)
      if (isWrong) context.addIssue({ code: 'custom', path: [path], message });
  });

/** How probable it is that figures cross a limit within a time to come. */
export const ForecastQuery = z.strictObject({
  kind: z.literal('forecast'),
  query: measuring,
  step: durationFrom('1m', '1d').default('1h'),
  history: durationFrom('10m', '366d')
    .default('14d')
    .describe('How much is looked back on, as far as it is kept: 4,000 steps at most'),
  horizon: durationFrom('1m', '366d').describe('How far: 1,000 steps at most, such as 4d'),
  until: z
    .union([z.strictObject({ above: z.number() }), z.strictObject({ below: z.number() })])
    .describe('The limit, in the unit of the query'),
});

/** Anything that can be asked. `version` is that of this declaration: a saved query of a former one is still understood. */
export const Query = z.discriminatedUnion('kind', [...plain, FormulaQuery, AnomalyQuery, ForecastQuery]);
export type Query = z.output<typeof Query>;

/** Version of this declaration. What was saved by a former one is brought to it by `readSaved`. */
export const queryVersion = 1;

/** A query as it was saved, in today's form; undefined where it cannot be read: it is of a later version, or was damaged. */
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
/** What is asked of telemetry by step. */
export type MeasuringQuery = z.output<typeof measuring>;
