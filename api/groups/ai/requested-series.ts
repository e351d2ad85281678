/** The series that an operation reads: points in the request, or the result of a query. */
import { z } from 'zod';
import { createValidationError } from '../../../queries/errors.ts';
import { Query } from '../../../queries/query.ts';
import { parseRange } from '../../../queries/range.ts';
import { Incompleteness, type Result } from '../../../queries/result.ts';
import { run } from '../../../queries/run.ts';
import { buildSteps, resolveStepMs } from '../../../queries/steps.ts';
import { DurationText, TimeText } from '../../../queries/time-parameters.ts';
import type { Point } from '../../../subjects/anomalies/scores/scorer.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

/** Maximum points of all series of a request */
export const maxPoints = 50_000;
const maxSeries = 1000;

const SeriesInput = z.strictObject({
  labels: z.record(z.string().max(512), z.string().max(4096)).default({}),
  points: z
    .array(z.tuple([z.int(), z.number().nullable()]))
    .min(1)
    .max(maxPoints)
    .superRefine((points, context) => {
      const unorderedIndex = points.findIndex(
        ([timeMs], index) => index > 0 && timeMs <= (points[index - 1]?.[0] ?? timeMs),
      );
      if (unorderedIndex > 0)
        context.addIssue({
          code: 'custom',
          path: [unorderedIndex, 0],
          message: 'must be later than the point before it',
        });
    })
    .describe('Epoch milliseconds, ascending, and a value or null'),
});

/** Fields of a request body that specify the series to analyze. */
export const seriesRequestFields = {
  series: z.array(SeriesInput).min(1).max(maxSeries).optional().describe(`At most ${maxPoints} points in total`),
  query: Query.optional().describe('Alternative to series: each group of its result is a series'),
  from: TimeText.default('now-1d').describe('Start of the query range'),
  to: TimeText.default('now').describe('End of the query range'),
  step: DurationText.optional().describe(
    'Step of the query; by default a round value that gives about 60 to 150 steps',
  ),
};
interface SeriesRequest {
  readonly series?:
    | readonly { readonly labels: Record<string, string>; readonly points: readonly Point[] }[]
    | undefined;
  readonly query?: Query | undefined;
  readonly from: string;
  readonly to: string;
  readonly step?: string | undefined;
}

export interface NamedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly unit: string;
  readonly points: readonly Point[];
}

/** Fields that identify a series in a response. */
export const seriesIdentityFields = {
  name: z.string().describe('Name of the measure or metric; empty for points of the request'),
  labels: z.record(z.string(), z.string()),
  unit: z.string(),
};
export const PartialResults = z
  .array(Incompleteness)
  .describe('Parts missing from the result; empty when it is complete');

export interface RequestedSeries {
  readonly series: readonly NamedSeries[];
  /** Step of the query */
  readonly stepMs: number | undefined;
  readonly partial: Result['partial'];
}

const toFiniteNumber = (value: number | string | null): number | null => {
  const number = typeof value === 'string' ? Number(value) : value;
  return number !== null && Number.isFinite(number) ? number : null;
};

/**
 * Returns the points of the request, or the result of its query. A step that is only partly in the range has no value.
 */
export const readRequestedSeries = async (
  request: SeriesRequest,
  { caller, ports, signal }: { readonly caller: Caller; readonly ports: Ports; readonly signal: AbortSignal },
): Promise<RequestedSeries> => {
  if ((request.series === undefined) === (request.query === undefined))
    throw createValidationError('series', 'specify either series or a query');
  if (request.series !== undefined) {
    const total = request.series.reduce((sum, { points }) => sum + points.length, 0);
    if (total > maxPoints)
      throw createValidationError('series', `${total} points are too many: at most ${maxPoints} at once`);
    return {
      series: request.series.map((inputSeries) => ({ name: '', unit: '', ...inputSeries })),
      stepMs: undefined,
      partial: [],
    };
  }
  const query = request.query as Query;
  const range = parseRange(request, ports.clock.now());
  const stepMs = resolveStepMs(request.step, range);
  const result = await run(query, createQueryReader(caller, ports), { range, stepMs, signal });
  if (result.form !== 'series')
    throw createValidationError('query', 'returns a table: only values by step can be analyzed');
  const total = result.series.length * buildSteps(range, stepMs).count;
  if (total > maxPoints)
    throw createValidationError(
      'step',
      `${total} points are too many: at most ${maxPoints} at once; use a larger step or fewer groups`,
    );
  const partialSteps = new Set(result.partialSteps);
  const series = result.series.map(({ name, labels, unit, points }) => ({
    name,
    labels,
    unit,
    points: points.map(([timeMs, value]): Point => [timeMs, partialSteps.has(timeMs) ? null : toFiniteNumber(value)]),
  }));
  return { series, stepMs, partial: result.partial };
};
