/** What is wrong with a group of recording rules beyond its form. */
import { expressionProblem } from '../../../queries/promql/index.ts';
import type { RecordingGroup } from '../../../schemas/resources/recording-group.ts';
import type { Problem } from '../rule-problems.ts';

/** Expressions that are no PromQL, each with its place. */
export const groupProblemsOf = ({ rules }: Pick<RecordingGroup, 'rules'>): Problem[] =>
  rules.flatMap(({ expression }, index) => {
    const message = expressionProblem(expression);
    return message === undefined ? [] : [{ path: `rules.${index}.expression`, message }];
  });
