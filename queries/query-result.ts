/** Results of queries without the range, the cost and the freshness, which `run` adds. */
import type { Range } from './range.ts';
import type { Incompleteness, Result, Series, TableColumn } from './result.ts';

export type ResultData = Pick<Result, 'form' | 'series' | 'columns' | 'rows' | 'partial' | 'partialSteps'>;

/** Parameters of a query run, besides the reader. */
export interface QueryContext {
  /** Includes both ends. */
  readonly range: Range;
  /** With a step, the result consists of series; without a step, it is a table. */
  readonly stepMs?: number | undefined;
  /** Alignment of steps: to multiples of the step since the epoch, or to the start of the range. */
  readonly stepsFrom?: 'epoch' | 'range' | undefined;
  /** Whether the newest value of a metric must be within the range; an earlier value is not carried into it. */
  readonly isNewestWithin?: boolean | undefined;
  /** Minimum distance before the range of the point from which a counter's increase is counted. */
  readonly counterLookbackMs?: number | undefined;
}

export const buildTableResult = (
  columns: readonly TableColumn[],
  rows: readonly unknown[][],
  partial: readonly Incompleteness[] = [],
): ResultData => ({
  form: 'table',
  series: [],
  columns: [...columns],
  rows: [...rows],
  partialSteps: [],
  partial: [...partial],
});

export const buildSeriesResult = (
  series: readonly Series[],
  partialSteps: readonly number[],
  partial: readonly Incompleteness[] = [],
): ResultData => ({
  form: 'series',
  series: [...series],
  columns: [],
  rows: [],
  partialSteps: [...partialSteps],
  partial: [...partial],
});
