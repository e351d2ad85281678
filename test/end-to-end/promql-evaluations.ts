/** The evaluations of Prometheus' test language that run over HTTP. */
import { listSelections, parse } from '../../queries/promql/index.ts';
import type { Evaluation } from '../cases/promql-language/commands.ts';

/** The selections of an expression, or that it is refused. An expression that reads nothing has no selections. */
const readOf = ({ expression, instant, atMs, ...range }: Evaluation): unknown => {
  const window = instant ? { startMs: atMs, endMs: atMs, stepMs: 0 } : range;
  try {
    return listSelections(parse(expression), window);
  } catch {
    return 'refused';
  }
};

/** The form of a result: its type, whether it has histograms, and its warnings. */
const formOf = ({ instant, matrix, scalar, text, series, expectations }: Evaluation): unknown => [
  ...[instant, matrix, scalar !== undefined, text !== undefined, series.length === 0],
  series.some(({ values }) => values.some((value) => typeof value === 'object')),
  expectations.map(({ of }) => of),
];

/**
 * The first of all evaluations over the same samples that have the same selections and the same form of result. The
 * engine works the same with and without HTTP; `cases/promql-language.test.ts` tests every evaluation without HTTP.
 */
export const distinctEvaluations = (evaluations: readonly Evaluation[]): Evaluation[] => {
  const first = new Map<string, Evaluation>();
  for (const evaluation of evaluations) {
    const key = JSON.stringify([readOf(evaluation), formOf(evaluation)]);
    if (!first.has(key)) first.set(key, evaluation);
  }
  return [...first.values()];
};
