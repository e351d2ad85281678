/** Whether what the panels of a dashboard name is there. */
import { QueryError } from '../../queries/errors.ts';
import { namesIn, parseFormula } from '../../queries/formula/parse.ts';
import { parse } from '../../queries/promql/index.ts';
import type { Query } from '../../queries/query.ts';
import type { Validity } from '../../queries/validity.ts';
import { inOrderOfUse } from '../../queries/variables/order.ts';
import { referencesIn, templateOf } from '../../queries/variables/references.ts';
import type { DashboardFields, Panel } from './document.ts';

type Problem = Validity['problems'][number];

/** A query of a panel and where it stands. */
interface PlacedQuery {
  readonly path: string;
  readonly query: Query;
}

/** Stands for a variable; a problem that names it says nothing. */
const placeholder = 'oiq_variable';

/** A text with something in place of each variable, by what stands before it. */
const replaced = (text: string, placeholderAfter: (before: string) => string): string =>
  templateOf(text, referencesIn(text, { has: () => true }), placeholderAfter).text;

/** A query whose variables are names, so that what else it says can be read. */
const withNames = (query: Query): Query =>
  JSON.parse(
    JSON.stringify(query, (_, value: unknown) =>
      typeof value === 'string' ? replaced(value, () => placeholder) : value,
    ),
  );

const beforeDuration = /(?:[[:]|\boffset)\s*-?$/;
const beforeNumber = /\b(?:topk|bottomk|limitk|limit_ratio|quantile|histogram_quantile)\s*\(\s*$/;

/** PromQL with something in place of each variable that can stand there: a duration, a number, or a name. */
const withPlaceholders = (expression: string): string =>
  replaced(expression, (template) => {
    const before = template.slice(-32);
    if (beforeDuration.test(before)) return '5m';
    return beforeNumber.test(before) ? '1' : placeholder;
  });

/** What is wrong with an expression; one with variables that cannot be read without their values is not known to be wrong. */
const checkExpression = (
  expression: string,
): { readonly problem: string } | { readonly unknown: string } | undefined => {
  const filled = withPlaceholders(expression);
  try {
    parse(filled);
    return undefined;
  } catch (error) {
    if (filled !== expression) return { unknown: 'expressions cannot be read before their variables have values' };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

/** The parts of a panel that are asked by others: its queries, those that are saved put in. */
const queriesOf = ({ id, queries }: Panel, saved: ReadonlyMap<string, Query>): (PlacedQuery | Problem)[] =>
  queries.map(({ name, query, savedQueryId }) => {
    const path = `panels.${id}.queries.${name}`;
    if (query !== undefined) return { path, query };
    const found = saved.get(savedQueryId ?? '');
    return found === undefined
      ? {
          path: `${path}.savedQueryId`,
          message: `the saved query ${savedQueryId} is not there for you, or is not understood`,
        }
      : { path, query: found };
  });

const formulaProblems = ({ id, queries, formulas }: Panel): Problem[] => {
  const known = new Set(queries.map(({ name }) => name));
  return formulas.flatMap(({ name, expression }) => {
    const path = `panels.${id}.formulas.${name}.expression`;
    try {
      const missing = namesIn(parseFormula(expression)).filter((each) => !known.has(each));
      return missing.map((each) => ({ path, message: `names ${each}, which is none of the queries` }));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return [{ path, message: error.message }];
    }
  });
};

/** Variables that use each other in a circle, which nothing can be asked with. */
const circleProblems = ({ variables }: Pick<DashboardFields, 'variables'>): Problem[] => {
  try {
    inOrderOfUse(variables);
    return [];
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return [{ path: error.path ?? 'variables', message: error.message }];
  }
};

interface StaticCheck {
  readonly problems: readonly Problem[];
  /** Why something is not known. */
  readonly unknown: readonly string[];
  readonly toRead: readonly PlacedQuery[];
}

/** What can be said without reading, and the queries of which it must be read whether what they name has landed. */
export const checkStatically = (
  { panels, variables }: Pick<DashboardFields, 'panels' | 'variables'>,
  saved: ReadonlyMap<string, Query>,
): StaticCheck => {
  const problems: Problem[] = [...circleProblems({ variables }), ...panels.flatMap(formulaProblems)];
  const unknown = new Set<string>();
  const toRead: PlacedQuery[] = [];
  for (const found of panels.flatMap((panel) => queriesOf(panel, saved))) {
    if (!('query' in found)) problems.push(found);
    else if (found.query.kind === 'promql') {
      const finding = checkExpression(found.query.expression);
      if (finding !== undefined && 'problem' in finding)
        problems.push({ path: `${found.path}.query.expression`, message: finding.problem });
      else if (finding !== undefined) unknown.add(finding.unknown);
    } else toRead.push({ path: found.path, query: withNames(found.query) });
  }
  return { problems, unknown: [...unknown], toRead };
};

/** One answer for the dashboard: what was looked through, and what was read of its queries, in their order. */
export const validityOf = ({ problems, unknown, toRead }: StaticCheck, validities: readonly Validity[]): Validity => {
  const found = validities.flatMap((validity, index) =>
    validity.problems
      .filter(({ message }) => !message.includes(placeholder))
      .map(({ path, message }) => ({ path: `${toRead[index]?.path}.${path}`, message })),
  );
  const all = [...problems, ...found];
  if (all.length > 0) return { isValid: false, problems: all, reason: null };
  const reasons = new Set([...unknown, ...validities.flatMap(({ reason }) => reason ?? [])]);
  return { isValid: reasons.size > 0 ? null : true, problems: [], reason: [...reasons].join('; ') || null };
};
