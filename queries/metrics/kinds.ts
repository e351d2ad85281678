/** Functions that a metric supports, and the table of its points. */
import { createValidationError } from '../errors.ts';
import type { MetricQuery } from '../query.ts';
import type { SelectedSeries } from './selection.ts';
import type { PointSource } from './windows.ts';

type OverTime = MetricQuery['overTime'];

/** Returns the table of a series' points. Series of Prometheus' classic histograms and summaries are numbers. */
export const getPointTable = ({ kind, source }: Pick<SelectedSeries, 'kind' | 'source'>): PointSource['table'] => {
  if (kind === 'exponential_histogram') return 'histograms';
  if (source !== 'otlp') return 'samples';
  if (kind === 'histogram') return 'histograms';
  return kind === 'summary' ? 'summaries' : 'samples';
};

const isDelta = ({ temporality }: SelectedSeries): boolean => temporality === 1;

const counterFunctions: ReadonlySet<OverTime> = new Set(['rate', 'increase']);

/** Types in Prometheus' metadata whose values go up and down. */
const gaugeTypes = new Set(['gauge', 'info', 'state_set', 'gauge_histogram']);

/** Returns why the increase of a series of numbers is meaningless; undefined if the series is a counter. */
const explainNotCounter = ({ metric, kind, monotonic, source }: SelectedSeries): string | undefined => {
  if (gaugeTypes.has(kind)) return `${metric} is a gauge, not a counter: use avg, min, max or last`;
  if (source === 'otlp' && kind === 'sum' && !monotonic)
    return `${metric} is a non-monotonic sum, so resets cannot be detected: use last or avg, or sum if it is delta`;
  return undefined;
};

/** Series that are read with the same statement form. */
export interface SeriesRead {
  readonly table: PointSource['table'];
  readonly temporality: 'cumulative' | 'delta';
  /** Indexes of the series. */
  readonly members: readonly number[];
}

const addArticle = (kind: string): string => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`);
const formatKind = (kind: string): string => kind.replaceAll('_', ' ');

/** Returns how the series are read. Throws if the function does not apply to them, with an alternative. */
export const planSeriesReads = (
  series: readonly SelectedSeries[],
  { metric, overTime, across }: Pick<MetricQuery, 'metric' | 'overTime' | 'across'>,
): SeriesRead[] => {
  const [firstSeries] = series;
  if (firstSeries === undefined) return [];
  const table = getPointTable(firstSeries);
  const otherSeries = series.find((selectedSeries) => getPointTable(selectedSeries) !== table);
  if (otherSeries !== undefined)
    throw createValidationError(
      'metric',
      `${metric} is ${addArticle(formatKind(firstSeries.kind))} in some series and ${addArticle(formatKind(otherSeries.kind))} in others: name one in the search, as in kind:${firstSeries.kind}`,
    );
  if (table === 'samples' && counterFunctions.has(overTime)) {
    const reason = series.map(explainNotCounter).find((each) => each !== undefined);
    if (reason !== undefined)
      throw createValidationError('overTime', `${overTime} is for counters and histograms: ${reason}`);
  }
  if (table !== 'samples') requireDistributionFunction(table, { metric, overTime, across });
  const byTemporality = (['cumulative', 'delta'] as const).map((temporality) => ({
    table,
    temporality,
    members: [...series.keys()].filter(
      (index) => isDelta(series[index] as SelectedSeries) === (temporality === 'delta'),
    ),
  }));
  return byTemporality.filter(({ members }) => members.length > 0);
};

const requireDistributionFunction = (
  table: 'histograms' | 'summaries',
  { metric, overTime, across }: Pick<MetricQuery, 'metric' | 'overTime' | 'across'>,
): void => {
  const kind = table === 'histograms' ? 'a histogram' : 'a summary';
  if (overTime === 'last')
    throw createValidationError(
      'overTime',
      `${metric} is ${kind}, which is not a single value: use quantile, avg, sum, count, rate or increase`,
    );
  if (table === 'histograms') return;
  if (overTime === 'min' || overTime === 'max')
    throw createValidationError(
      'overTime',
      `${metric} is a summary, which has no ${overTime}: use quantile, avg, sum, count, rate or increase`,
    );
  if (overTime === 'quantile' && across !== 'none')
    throw createValidationError(
      'across',
      `must be none: ${metric} is a summary, and quantiles of several summaries cannot be combined: use across none, or avg`,
    );
};

/** Returns the UCUM unit of the result, derived from that of the metric. Empty if the metric's unit is unknown. */
export const getResultUnit = (
  unit: string,
  table: PointSource['table'],
  { overTime, across }: Pick<MetricQuery, 'overTime' | 'across'>,
): string => {
  if (across === 'count') return '{series}';
  const isCount = table !== 'samples';
  if (overTime === 'count') return isCount ? '{observation}' : '{point}';
  if (overTime === 'increase') return isCount ? '{observation}' : unit;
  if (overTime !== 'rate') return unit;
  const countedUnit = isCount ? '{observation}' : unit;
  return countedUnit === '' ? '' : `${countedUnit}/s`;
};
