/** Checks the validity of a dashboard: whether the names in its panels exist. */

import { QueryError } from '../../queries/errors.ts';
import { collectNames, parseFormula } from '../../queries/formula/parse.ts';
import { parse } from '../../queries/promql/index.ts';
import type { Query } from '../../queries/query.ts';
import { getPromql } from '../../queries/query-kind.ts';
import type { Validity } from '../../queries/validity.ts';
import { findVariableProblems, formatVariableProblem } from '../../queries/variables/in-promql.ts';
import { sortByDependency } from '../../queries/variables/order.ts';
import { listVariableNames } from '../../queries/variables/platform.ts';
import { createTemplate, findReferences } from '../../queries/variables/references.ts';
import type { DashboardFields, Panel } from './document.ts';

type Problem = Validity['problems'][number];

/** A query of a panel with its path */
interface QueryWithPath {
  readonly path: string;
  readonly query: Query;
}

/** Replaces a variable; problems that contain it are ignored. */
const placeholder = 'oiq_variable';

/** Replaces each variable in a text, depending on the preceding text. */
const replaceVariables = (text: string, placeholderAfter: (before: string) => string): string =>
  createTemplate(text, findReferences(text, { has: () => true }), placeholderAfter).text;

/** Replaces the variables of a query with names, so that the remainder can be parsed. */
const replaceQueryVariables = (query: Query): Query =>
  JSON.parse(
    JSON.stringify(query, (_, value: unknown) =>
      typeof value === 'string' ? replaceVariables(value, () => placeholder) : value,
    ),
  );

const durationPrefix = /(?:[[:]|\boffset)\s*-?$/;
const numberPrefix = /\b(?:topk|bottomk|limitk|limit_ratio|quantile|histogram_quantile)\s*\(\s*$/;

/** Replaces each variable in PromQL with a valid value: a duration, a number, or a name. */
const fillPlaceholders = (expression: string): string =>
  replaceVariables(expression, (template) => {
    const precedingText = template.slice(-32);
    if (durationPrefix.test(precedingText)) return '5m';
    return numberPrefix.test(precedingText) ? '1' : placeholder;
  });

/**
 * Checks an expression with variables of these names. If it cannot be parsed without the values of its variables, it is
 * not reported.
 */
const checkExpression = (
  expression: string,
  variableNames: ReadonlySet<string>,
): { readonly problem: string } | { readonly unknown: string } | undefined => {
  const [variableProblem] = findVariableProblems(expression, variableNames);
  if (variableProblem !== undefined) return { problem: formatVariableProblem(variableProblem) };
  const filledExpression = fillPlaceholders(expression);
  try {
    parse(filledExpression);
    return undefined;
  } catch (error) {
    if (filledExpression !== expression)
      return { unknown: 'expressions cannot be parsed before their variables have values' };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

/** Queries of a panel, with saved queries resolved. */
const resolveQueries = (
  { id, queries }: Panel,
  savedQueries: ReadonlyMap<string, Query>,
): (QueryWithPath | Problem)[] =>
  queries.map(({ name, query, savedQueryId }) => {
    const path = `panels.${id}.queries.${name}`;
    if (query !== undefined) return { path, query };
    const savedQuery = savedQueries.get(savedQueryId ?? '');
    return savedQuery === undefined
      ? {
          path: `${path}.savedQueryId`,
          message: `the saved query ${savedQueryId} does not exist, is not accessible to you, or is invalid`,
        }
      : { path, query: savedQuery };
  });

const findFormulaProblems = ({ id, queries, formulas }: Panel): Problem[] => {
  const queryNames = new Set(queries.map(({ name }) => name));
  return formulas.flatMap(({ name, expression }) => {
    const path = `panels.${id}.formulas.${name}.expression`;
    try {
      const unknownNames = collectNames(parseFormula(expression)).filter((queryName) => !queryNames.has(queryName));
      return unknownNames.map((unknownName) => ({
        path,
        message: `names ${unknownName}, which is not one of the queries`,
      }));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return [{ path, message: error.message }];
    }
  });
};

/** Returns a problem for each variable that depends on itself. */
const findVariableCycles = ({ variables }: Pick<DashboardFields, 'variables'>): Problem[] =>
  sortByDependency(variables).flatMap(({ variable, cycleProblem }) =>
    cycleProblem === undefined ? [] : [{ path: `variables.${variable.name}`, message: cycleProblem }],
  );

interface StaticCheck {
  readonly problems: readonly Problem[];
  /** Reasons for unknown validity. */
  readonly unknownReasons: readonly string[];
  readonly pendingQueries: readonly QueryWithPath[];
}

/** Returns the problems that need no reads, and the queries whose names must be read from the store. */
export const checkWithoutReads = (
  { panels, variables }: Pick<DashboardFields, 'panels' | 'variables'>,
  savedQueries: ReadonlyMap<string, Query>,
): StaticCheck => {
  const variableNames = listVariableNames(variables);
  const problems: Problem[] = [...findVariableCycles({ variables }), ...panels.flatMap(findFormulaProblems)];
  const unknownReasons = new Set<string>();
  const pendingQueries: QueryWithPath[] = [];
  for (const resolvedQuery of panels.flatMap((panel) => resolveQueries(panel, savedQueries))) {
    const expression = 'query' in resolvedQuery ? getPromql(resolvedQuery.query) : undefined;
    if (!('query' in resolvedQuery)) problems.push(resolvedQuery);
    else if (expression !== undefined) {
      const expressionProblem = checkExpression(expression, variableNames);
      if (expressionProblem !== undefined && 'problem' in expressionProblem)
        problems.push({ path: `${resolvedQuery.path}.query.expression`, message: expressionProblem.problem });
      else if (expressionProblem !== undefined) unknownReasons.add(expressionProblem.unknown);
    } else pendingQueries.push({ path: resolvedQuery.path, query: replaceQueryVariables(resolvedQuery.query) });
  }
  return { problems, unknownReasons: [...unknownReasons], pendingQueries };
};

/** Combines the static check and the results of its queries, in order. */
export const combineValidity = (
  { problems, unknownReasons, pendingQueries }: StaticCheck,
  validities: readonly Validity[],
): Validity => {
  const readProblems = validities.flatMap((validity, index) =>
    validity.problems
      .filter(({ message }) => !message.includes(placeholder))
      .map(({ path, message }) => ({ path: `${pendingQueries[index]?.path}.${path}`, message })),
  );
  const allProblems = [...problems, ...readProblems];
  if (allProblems.length > 0) return { isValid: false, problems: allProblems, reason: null };
  const reasons = new Set([...unknownReasons, ...validities.flatMap(({ reason }) => reason ?? [])]);
  return { isValid: reasons.size > 0 ? null : true, problems: [], reason: [...reasons].join('; ') || null };
};
