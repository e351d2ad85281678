/** Problems of a group of recording rules beyond its schema. */
import { expressionProblem } from '../../../queries/promql/index.ts';
import type { RecordingGroup } from '../../../schemas/resources/recording-group.ts';
import type { Problem } from '../rule-problems.ts';

/** Returns invalid PromQL expressions, each with its path. */
export const groupProblemsOf = ({ rules }: Pick<RecordingGroup, 'rules'>): Problem[] =>
  rules.flatMap(({ expression }, index) => {
    const message = expressionProblem(expression);
    return message === undefined ? [] : [{ path: `rules.${index}.expression`, message }];
  });
