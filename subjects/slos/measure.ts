/** Measures slices of an SLO: good and total counts, which may have fractions */

import type { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { runOverWindow } from '../../queries/over-window.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { Query } from '../../queries/query.ts';
import { parseJsonNumber } from '../../queries/series-states.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { Sli, SloFields } from './document.ts';
import { countRequests } from './requests.ts';
import { roundCount } from './slices/counts.ts';
import type { MeasuredSlice } from './slices/slices.ts';
import type { Window } from './slices/windows.ts';

export interface MeasureOptions {
  readonly reader: QueryReader;
  /** Query batcher of the organization, which combines simultaneous queries of SLOs */
  readonly batcher: QueryBatcher;
  readonly signal?: AbortSignal;
  readonly dueMs?: number;
}

type SliceOptions = MeasureOptions & { readonly sliceMs: number };

/** Returns the value of each slice that has one, by its start. */
const readSliceValues = async (
  query: Query,
  window: Window,
  { sliceMs, reader, batcher, ...queryOptions }: SliceOptions,
): Promise<Map<number, number>> => {
  // A counter may have points further apart than slices: its increase is counted from the point before the window.
  const counterLookbackMs = window.toMs - window.fromMs;
  const result = await runOverWindow(query, { ...window, stepMs: sliceMs, counterLookbackMs }, (part, context) =>
    batcher.run(part, reader, context, queryOptions),
  );
  const unexpectedGap = result.partial.find(({ code }) => code !== 'delay');
  if (unexpectedGap !== undefined)
    throw new PermanentError('slo-indicator', `the indicator returned a partial result: ${unexpectedGap.message}`);
  if (result.series.length > 1)
    throw new PermanentError(
      'slo-indicator',
      `the indicator returned ${result.series.length} series: aggregate them to one`,
    );
  return new Map(
    (result.series[0]?.points ?? []).flatMap(([beginMs, value]) => {
      const number = parseJsonNumber(value);
      return number === null || !Number.isFinite(number) ? [] : [[beginMs, number] as const];
    }),
  );
};

const comparisons: Readonly<Record<NonNullable<Sli['operator']>, (value: number, threshold: number) => boolean>> = {
  lt: (value, threshold) => value < threshold,
  lte: (value, threshold) => value <= threshold,
  gt: (value, threshold) => value > threshold,
  gte: (value, threshold) => value >= threshold,
};

/** A count of zero events is not a value: a slice without events is unknown. */
const isEmptyCount = (query: Query, value: number): boolean =>
  value === 0 && 'measures' in query && query.measures.every((measure) => measure.function === 'count');

const measureThreshold = async (
  { value, operator = 'gte', threshold = 0 }: Sli & { readonly value: Query },
  window: Window,
  sliceOptions: SliceOptions,
): Promise<MeasuredSlice[]> =>
  [...(await readSliceValues(value, window, sliceOptions))]
    .filter(([, measuredValue]) => !isEmptyCount(value, measuredValue))
    .map(([beginMs, measuredValue]) => [beginMs, comparisons[operator](measuredValue, threshold) ? 1 : 0, 1]);

const measureRatio = async (
  { good, bad, total }: Sli,
  window: Window,
  sliceOptions: SliceOptions,
): Promise<MeasuredSlice[]> => {
  const partQuery = good ?? bad;
  if (partQuery === undefined || total === undefined) return [];
  const [parts, totals] = await Promise.all([
    readSliceValues(partQuery, window, sliceOptions),
    readSliceValues(total, window, sliceOptions),
  ]);
  return [...totals].flatMap(([beginMs, totalValue]) => {
    const totalCount = roundCount(totalValue);
    if (totalCount <= 0) return [];
    const partCount = Math.min(totalCount, Math.max(0, roundCount(parts.get(beginMs) ?? 0)));
    return [[beginMs, good === undefined ? roundCount(totalCount - partCount) : partCount, totalCount] as const];
  });
};

/** Returns the slices of a window that had events, in time order. The window starts and ends at slice boundaries. */
export const measureSlices = async (
  slo: SloFields,
  window: Window,
  options: MeasureOptions,
): Promise<MeasuredSlice[]> => {
  const { sli, slice } = slo.query;
  const sliceOptions = { ...options, sliceMs: parseDurationMs(slice) };
  const slices =
    sli === undefined
      ? await countRequests(slo, window, sliceOptions)
      : sli.value === undefined
        ? await measureRatio(sli, window, sliceOptions)
        : await measureThreshold({ ...sli, value: sli.value }, window, sliceOptions);
  return slices
    .filter(([beginMs]) => beginMs >= window.fromMs && beginMs < window.toMs)
    .toSorted(([left], [right]) => left - right);
};
