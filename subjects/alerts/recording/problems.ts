/** What is wrong with a group of recording rules beyond its form. */
import { parse } from '../../../queries/promql/index.ts';
import { PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import type { RecordingGroup } from '../../../schemas/resources/recording-group.ts';
import type { Problem } from '../rule-problems.ts';

/** Expressions that are no PromQL, each with its place. */
export const groupProblemsOf = ({ rules }: Pick<RecordingGroup, 'rules'>): Problem[] =>
  rules.flatMap(({ expression }, index) => {
    try {
      parse(expression);
      return [];
    } catch (error) {
      if (!(error instanceof PromqlSyntaxError)) throw error;
      return [{ path: `rules.${index}.expression`, message: error.message }];
    }
  });
