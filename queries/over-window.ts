/** Asks a query for a window that ends before its end, as a whole or by steps: what alert rules compare, and what objectives count. */
import type { Answer, QueryContext } from './answer.ts';
import { runFormula } from './formula/formula.ts';
import type { Query } from './query.ts';

export interface QueryWindow {
  readonly fromMs: number;
  /** Not in it. */
  readonly toMs: number;
  /** One figure for all of it, where it has no steps. */
  readonly stepMs?: number | undefined;
}

const ns = (ms: number): bigint => BigInt(ms) * 1_000_000n;

/** The question of a window to a query that is no formula. PromQL is evaluated at instants: at the end of the window, or of each step. */
export const buildWindowContext = (query: Query, { fromMs, toMs, stepMs }: QueryWindow): QueryContext => {
  const bySteps = { stepMs, stepsFrom: 'range' } as const;
  if (query.kind === 'promql') return { range: { from: ns(fromMs + (stepMs ?? 0)), to: ns(toMs) }, ...bySteps };
  return { range: { from: ns(fromMs), to: ns(toMs) - 1n }, ...bySteps, isNewestWithin: true };
};

/**
 * Points are at begins of steps, whatever the query. Of a formula each part is asked by itself: what PromQL says of a step it says at its end, and
 * so does not a count beside it.
 */
export const answerOver = async (
  query: Query,
  window: QueryWindow,
  runPart: (query: Query, context: QueryContext) => Promise<Answer>,
): Promise<Answer> => {
  if (query.kind === 'formula') return runFormula(query, (part) => answerOver(part, window, runPart));
  const answer = await runPart(query, buildWindowContext(query, window));
  const { stepMs } = window;
  if (query.kind !== 'promql' || stepMs === undefined) return answer;
  return {
    ...answer,
    partialSteps: answer.partialSteps.map((atMs) => atMs - stepMs),
    series: answer.series.map((series) => ({
      ...series,
      points: series.points.map(([atMs, value]) => [atMs - stepMs, value] as const),
    })),
  };
};
