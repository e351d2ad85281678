/**
 * Order in which the rules of a group may be queried concurrently, so that each sees the same data as in Prometheus.
 */
import { listSelections, parse } from '../../../queries/promql/index.ts';
import type { Matcher } from '../../../queries/promql/series.ts';
import { compileTest } from '../../../queries/promql/syntax/matchers.ts';
import type { RecordingRule } from '../../../schemas/resources/recording-group.ts';

/**
 * Returns tests for metric names, one for each selector of the expression. An invalid expression has no selectors; its
 * query reports the error.
 */
const compileSelectorTests = ({
  expression,
}: Pick<RecordingRule, 'expression'>): readonly ((name: string) => boolean)[] => {
  let selectors: readonly (readonly Matcher[])[];
  try {
    const window = { startMs: 0, endMs: 0, stepMs: 0 };
    selectors = listSelections(parse(expression), window).map(({ matchers }) => matchers);
  } catch {
    return [];
  }
  return selectors.map((matchers) => {
    const tests = matchers.filter(({ name }) => name === '__name__').map(compileTest);
    return (name) => tests.every((test) => test(name));
  });
};

/**
 * Returns the indexes of the rules in rounds. The rules of one round may run concurrently. A rule reads the results of
 * preceding rules from this evaluation, and those of following rules from the previous evaluation.
 */
export const orderInRounds = (
  rules: readonly Pick<RecordingRule, 'record' | 'expression'>[],
): readonly (readonly number[])[] => {
  const selectorTestsByRule = rules.map(compileSelectorTests);
  const doesRead = (reader: number, writer: number): boolean =>
    selectorTestsByRule[reader]?.some((test) => test(rules[writer]?.record ?? '')) === true;
  const roundByRule: number[] = [];
  for (const index of rules.keys()) {
    let round = 0;
    for (let earlier = 0; earlier < index; earlier++) {
      const earlierRound = roundByRule[earlier] as number;
      if (doesRead(index, earlier)) round = Math.max(round, earlierRound + 1);
      else if (doesRead(earlier, index)) round = Math.max(round, earlierRound);
    }
    roundByRule.push(round);
  }
  const lastRound = Math.max(-1, ...roundByRule);
  return Array.from({ length: lastRound + 1 }, (_, round) =>
    [...rules.keys()].filter((index) => roundByRule[index] === round),
  );
};
