/** Queries in input fields: written, read back without loss, and left as JSON where fields cannot represent them. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { Query } from '../../../queries/query.ts';
import {
  parseNames,
  parseQueryText,
  type QueryKind,
  type QueryParams,
  queryKindTitles,
  toQuery,
  toQueryKind,
  toQueryParams,
} from '../../../web/editors/query-form.ts';

const written: QueryParams = {
  text: 'status:error',
  groupBy: ['service', 'host.name'],
  aggregation: 'p90',
  field: 'took',
  overTime: 'rate',
  filter: 'queue:mail',
  having: { operator: 'at-least', value: 5 },
};
const kinds = Object.keys(queryKindTitles).filter((kind) => kind !== 'json') as QueryKind[];

test('every kind of input is a valid query, which has the same input', (t) => {
  for (const kind of kinds) {
    const query = toQuery(kind, written);
    t.true(Query.safeParse(query).success, kind);
    t.is(toQueryKind(query), kind);
    const again = toQueryParams(query);
    t.is(again.text, written.text, kind);
    if (kind === 'metric') t.is(again.filter, written.filter);
    t.deepEqual(toQuery(kind, again), query, kind);
  }
  t.is(toQuery('json', written), undefined);
});

test('figures are measures of a field, and rates of a metric are summed', (t) => {
  const measuresOf = (aggregation: QueryParams['aggregation']) => {
    const query = toQuery('figure logs', { ...written, aggregation });
    return query?.kind === 'aggregate' ? query.measures : undefined;
  };
  t.deepEqual(measuresOf('p90') as unknown, [{ function: 'percentile', field: 'took', percentile: 90 }]);
  t.deepEqual(measuresOf('max') as unknown, [{ function: 'max', field: 'took' }]);
  t.like(toQuery('metric', written), { overTime: 'rate', across: 'sum' });
  t.like(toQuery('metric', { ...written, overTime: 'quantile' }), { across: 'avg', quantile: 0.95 });
});

test('a condition on the value of groups is an input, except for a measure by name', (t) => {
  const query = toQuery('count logs', written);
  t.like(query, { having: { operator: 'at-least', value: 5 } });
  t.deepEqual(toQueryParams(query).having, written.having);
  t.false('having' in (toQuery('count logs', { ...written, having: undefined }) ?? {}));
  const named = { ...query, having: { measure: 'count', operator: 'above', value: 1 } } as Query;
  t.is(toQueryKind(named), 'json');
});

test('a changed query keeps its project, and an empty search is omitted', (t) => {
  const before = { kind: 'rows', signal: 'logs', projectId: 'shop' } as Query;
  t.deepEqual(toQuery('rows traces', { ...written, text: '' }, before) as unknown, {
    kind: 'rows',
    signal: 'traces',
    projectId: 'shop',
  });
});

test('queries that the fields cannot represent are shown as JSON', (t) => {
  const count = { function: 'count' };
  const aggregate = (more: object) => ({ kind: 'aggregate', signal: 'logs', measures: [count], groupBy: [], ...more });
  const queries: readonly object[] = [
    { kind: 'formula' },
    { kind: 'rows', signal: 'detections' },
    { kind: 'metric', metric: 'm', overTime: 'quantile', quantile: 0.5, groupBy: [] },
    aggregate({ signal: 'detections' }),
    aggregate({ measures: [count, count] }),
    aggregate({ measures: [{ ...count, search: 'a' }] }),
    aggregate({ measures: [{ function: 'percentile', field: 'f', percentile: 42 }] }),
    aggregate({ order: { by: 'count' } }),
    aggregate({ measures: 'of another form' }),
  ];
  for (const query of queries) t.is(toQueryKind(query as Query), 'json', JSON.stringify(query));
  t.is(toQueryKind(aggregate({}) as Query), 'count logs');
  t.is(toQueryKind(undefined), 'json');
});

test('names are separated by commas, and text that is not a query is rejected', (t) => {
  t.deepEqual(parseNames(' service,, host.name '), ['service', 'host.name']);
  t.deepEqual(parseQueryText('{"kind":"rows"}') as unknown, { kind: 'rows' });
  for (const text of ['', '{', '1', 'null']) t.is(parseQueryText(text), undefined, text);
});
