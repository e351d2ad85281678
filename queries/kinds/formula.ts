/** Query kind for arithmetic over the results of other queries. */
import { createValidationError } from '../errors.ts';
import { runFormula } from '../formula/formula.ts';
import { collectNames, parseFormula } from '../formula/parse.ts';
import { describeHaving } from '../having.ts';
import { FormulaQuery } from '../query.ts';
import { defineQueryKind, getQueryKind } from '../query-kind.ts';
import { joinList } from './conditions.ts';

export const formula = defineQueryKind<FormulaQuery>({
  schema: FormulaQuery,
  isFormulaPart: false,
  parts: {
    list: ({ queries }) => Object.entries(queries).map(([name, part]) => [`queries.${name}`, part] as const),
    change: (query, change) => {
      const parts = Object.entries(query.queries).map(([name, part]) => [name, change(part)] as const);
      return { ...query, queries: Object.fromEntries(parts) as FormulaQuery['queries'] };
    },
  },
  signals: () => [],
  run: (query, _reader, context, runPart) => runFormula(query, (part) => runPart(part, context)),
  combine: runFormula,
  inspect({ expression, queries }, inspection) {
    inspection.attempt(() => {
      const names = collectNames(parseFormula(expression));
      if (names.length === 0) throw createValidationError('expression', 'must name at least one query');
      for (const name of names)
        if (!Object.hasOwn(queries, name))
          throw createValidationError('expression', `names ${name}, which is not one of the queries`);
    });
  },
  changeTexts: (query, changes) => ({ ...query, expression: changes.formula(query.expression) }),
  groupBy: ({ queries }) =>
    Object.values(queries).every((part) => getQueryKind(part).groupBy?.(part)?.length === 0) ? [] : undefined,
  sentence: ({ expression, queries, having, limit }, parts) =>
    `${expression}, where ${joinList(Object.entries(queries).map(([name, part]) => `${name} is the ${parts.query(part)}`))}${limit === undefined ? '' : `, the ${limit} largest`}${describeHaving(having)}`,
});
