/** Which evaluations of Prometheus' test language are asked over HTTP. */
import { listSelections, parse } from '../../queries/promql/index.ts';
import type { Evaluation } from '../cases/promql-language/commands.ts';

/** What is read for it, or that it is refused: an expression that reads nothing has no selections. */
const readOf = ({ expression, instant, atMs, ...range }: Evaluation): unknown => {
  const window = instant ? { startMs: atMs, endMs: atMs, stepMs: 0 } : range;
  try {
    return listSelections(parse(expression), window);
  } catch {
    return 'refused';
  }
};

/** The form of what is answered: its type, with or without histograms, and what is told beside it. */
const formOf = ({ instant, matrix, scalar, text, series, expectations }: Evaluation): unknown => [
  ...[instant, matrix, scalar !== undefined, text !== undefined, series.length === 0],
  series.some(({ values }) => values.some((value) => typeof value === 'object')),
  expectations.map(({ of }) => of),
];

/**
 * The first ones of all evaluations over the same samples that read the same and are answered in the same form. What the engine makes
 * of what was read is the same with and without HTTP, and tested without for every evaluation (`cases/promql-language.test.ts`).
 */
export const distinctEvaluations = (evaluations: readonly Evaluation[]): Evaluation[] => {
  const first = new Map<string, Evaluation>();
  for (const evaluation of evaluations) {
    const key = JSON.stringify([readOf(evaluation), formOf(evaluation)]);
    if (!first.has(key)) first.set(key, evaluation);
  }
  return [...first.values()];
};
