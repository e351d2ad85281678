/**
 * Order in which the rules of a group may be queried concurrently, so that each sees the same data as in Prometheus.
 */
import { parse, selectionsOf } from '../../../queries/promql/index.ts';
import type { Matcher } from '../../../queries/promql/series.ts';
import { testOf } from '../../../queries/promql/syntax/matchers.ts';
import type { RecordingRule } from '../../../schemas/resources/recording-group.ts';

/**
 * Name tests, one for each selector of the expression. An invalid expression reads nothing: its query reports the
 * error.
 */
const readsOf = ({ expression }: Pick<RecordingRule, 'expression'>): readonly ((name: string) => boolean)[] => {
  let selectors: readonly (readonly Matcher[])[];
  try {
    const window = { startMs: 0, endMs: 0, stepMs: 0 };
    selectors = selectionsOf(parse(expression), window).map(({ matchers }) => matchers);
  } catch {
    return [];
  }
  return selectors.map((matchers) => {
    const tests = matchers.filter(({ name }) => name === '__name__').map(testOf);
    return (name) => tests.every((test) => test(name));
  });
};

/**
 * Returns the rules by round. A rule reads the results of preceding rules from this evaluation, and those of following
 * rules from the previous evaluation.
 */
export const roundsOf = (
  rules: readonly Pick<RecordingRule, 'record' | 'expression'>[],
): readonly (readonly number[])[] => {
  const reads = rules.map(readsOf);
  const readsOther = (reader: number, other: number): boolean =>
    reads[reader]?.some((test) => test(rules[other]?.record ?? '')) === true;
  const roundOf: number[] = [];
  for (const index of rules.keys()) {
    let round = 0;
    for (let before = 0; before < index; before++) {
      const own = roundOf[before] as number;
      if (readsOther(index, before)) round = Math.max(round, own + 1);
      else if (readsOther(before, index)) round = Math.max(round, own);
    }
    roundOf.push(round);
  }
  const last = Math.max(-1, ...roundOf);
  return Array.from({ length: last + 1 }, (_, round) => [...rules.keys()].filter((index) => roundOf[index] === round));
};
