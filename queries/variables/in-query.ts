/** Variables in a query of any kind. */
import type { Measure, MeasuringQuery, Query } from '../query.ts';
import { inFormula } from './in-formula.ts';
import { inPromql } from './in-promql.ts';
import { inSearch } from './in-search.ts';
import { inNames, inText } from './in-text.ts';
import type { Scope } from './scope.ts';

type Plain = Exclude<Query, { kind: 'formula' | 'anomaly' | 'forecast' }>;

const searched = <Part extends { search?: string | undefined }>(part: Part, scope: Scope): Part =>
  part.search === undefined ? part : { ...part, search: inSearch(part.search, scope) };

const measured = (measure: Measure, scope: Scope): Measure => {
  const { field, ...rest } = searched(measure, scope);
  return field === undefined ? rest : { ...rest, field: inText(field, scope) };
};

const plainWith = (query: Plain, scope: Scope): Plain => {
  switch (query.kind) {
    case 'slo':
      return { ...query, sloId: inText(query.sloId, scope) };
    case 'check':
      return { ...query, checkId: inText(query.checkId, scope) };
    case 'promql':
      return { ...query, expression: inPromql(query.expression, scope) };
    case 'rows':
      return {
        ...searched(query, scope),
        ...(query.fields === undefined ? {} : { fields: inNames(query.fields, scope) }),
      };
    case 'metric':
      return {
        ...searched(query, scope),
        metric: inText(query.metric, scope),
        groupBy: inNames(query.groupBy, scope),
      };
    case 'aggregate':
      return {
        ...searched(query, scope),
        measures: query.measures.map((measure) => measured(measure, scope)),
        groupBy: inNames(query.groupBy, scope),
        ...(query.order === undefined ? {} : { order: { ...query.order, by: inText(query.order.by, scope) } }),
      };
  }
};

/** Returns a query with its variables replaced. Throws a `QueryError` if a value is not valid at its position. */
export const inQuery = (query: Query, scope: Scope): Query => {
  switch (query.kind) {
    case 'formula':
      return {
        ...query,
        expression: inFormula(query.expression, scope),
        queries: Object.fromEntries(
          Object.entries(query.queries).map(([name, part]) => [name, plainWith(part, scope)]),
        ),
      };
    case 'anomaly':
      return {
        ...query,
        ...(query.detectorId === undefined ? {} : { detectorId: inText(query.detectorId, scope) }),
        ...(query.query === undefined ? {} : { query: inQuery(query.query, scope) as MeasuringQuery }),
      };
    case 'forecast':
      return { ...query, query: inQuery(query.query, scope) as MeasuringQuery };
    default:
      return plainWith(query, scope);
  }
};
