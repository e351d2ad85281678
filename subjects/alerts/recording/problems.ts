/** Problems of a group of recording rules beyond its schema. */
import { findExpressionProblem } from '../../../queries/promql/index.ts';
import type { RecordingGroup } from '../../../schemas/resources/recording-group.ts';
import type { Problem } from '../rule-problems.ts';

/** Returns a problem for each invalid PromQL expression, with its path. */
export const findGroupProblems = ({ rules }: Pick<RecordingGroup, 'rules'>): Problem[] =>
  rules.flatMap(({ expression }, index) => {
    const message = findExpressionProblem(expression);
    return message === undefined ? [] : [{ path: `rules.${index}.expression`, message }];
  });
