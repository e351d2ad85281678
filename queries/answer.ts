/** What each kind of query answers; `run` adds the range, the cost and the freshness. */
import type { Range } from './range.ts';
import type { Incompleteness, Result, Series, TableColumn } from './result.ts';

export type Answer = Pick<Result, 'form' | 'series' | 'columns' | 'rows' | 'partial' | 'partialSteps'>;

/** What a query is run with, besides the one who asks. */
export interface QueryContext {
  /** Both ends belong to it. */
  readonly range: Range;
  /** With a step the answer is series, without one a table. */
  readonly stepMs?: number | undefined;
  /** Where steps begin: at multiples of the step since the epoch, or where the range does. */
  readonly stepsFrom?: 'epoch' | 'range' | undefined;
  /** The newest value of a metric must lie in the range: one that was reported before does not hold into it. */
  readonly isNewestWithin?: boolean | undefined;
}

export const tableAnswer = (
  columns: readonly TableColumn[],
  rows: readonly unknown[][],
  partial: readonly Incompleteness[] = [],
): Answer => ({
  form: 'table',
  series: [],
  columns: [...columns],
  rows: [...rows],
  partialSteps: [],
  partial: [...partial],
});

export const seriesAnswer = (
  series: readonly Series[],
  partialSteps: readonly number[],
  partial: readonly Incompleteness[] = [],
): Answer => ({
  form: 'series',
  series: [...series],
  columns: [],
  rows: [],
  partialSteps: [...partialSteps],
  partial: [...partial],
});
