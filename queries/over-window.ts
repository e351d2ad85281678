/** Runs a query for a half-open window, in total or by steps: the input of alert rules and SLOs. */

import type { Query } from './query.ts';
import { getQueryKind, type RunPartQuery } from './query-kind.ts';
import type { QueryContext, ResultData } from './query-result.ts';

export interface QueryWindow {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** Without it, the result is one value for the entire window. */
  readonly stepMs?: number | undefined;
  /** See `QueryContext`. */
  readonly counterLookbackMs?: number | undefined;
}

const msToNs = (ms: number): bigint => BigInt(ms) * 1_000_000n;

/**
 * Returns the context of a window for a query that is not a formula. PromQL is evaluated at instants: at the end of the
 * window, or of each step.
 */
export const buildWindowContext = (
  query: Query,
  { fromMs, toMs, stepMs, counterLookbackMs }: QueryWindow,
): QueryContext => {
  const stepContext = { stepMs, stepsFrom: 'range' } as const;
  if (getQueryKind(query).isAtStepEnds === true)
    return { range: { from: msToNs(fromMs + (stepMs ?? 0)), to: msToNs(toMs) }, ...stepContext };
  return {
    range: { from: msToNs(fromMs), to: msToNs(toMs) - 1n },
    ...stepContext,
    isNewestWithin: true,
    counterLookbackMs,
  };
};

/**
 * Runs a query over a window. Points are at the starts of steps for every kind of query. Parts of a formula run
 * separately, because PromQL evaluates a step at its end, unlike counts.
 */
export const runOverWindow = async (query: Query, window: QueryWindow, runPart: RunPartQuery): Promise<ResultData> => {
  const { combine, isAtStepEnds = false } = getQueryKind(query);
  if (combine !== undefined) return combine(query, (part) => runOverWindow(part, window, runPart));
  const result = await runPart(query, buildWindowContext(query, window));
  const { stepMs } = window;
  if (!isAtStepEnds || stepMs === undefined) return result;
  return {
    ...result,
    partialSteps: result.partialSteps.map((atMs) => atMs - stepMs),
    series: result.series.map((series) => ({
      ...series,
      points: series.points.map(([atMs, value]) => [atMs - stepMs, value] as const),
    })),
  };
};
