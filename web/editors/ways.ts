/** Related views of a query */
import type { Query } from '../../queries/query.ts';
import { toArea } from '../frame/address.ts';

interface RangedQuery {
  readonly query: Query;
  readonly from: string;
  readonly to: string;
}

const recordsOf: Readonly<Record<string, readonly [title: string, path: string]>> = {
  logs: ['Log records', '/logs'],
  traces: ['Traces', '/traces'],
};

/** Returns titled links: the counted records, the metric, and a new rule. */
export const waysTo = ({ query, from, to }: RangedQuery): readonly (readonly [title: string, address: string])[] => {
  const rule = ['Create alert', toArea('/alerts/rule', { query: JSON.stringify(query), from, to })] as const;
  if (query.kind === 'promql')
    return [['In metrics', toArea('/explore-metrics', { promql: query.expression, from, to })], rule];
  if (query.kind === 'metric') {
    const { metric, overTime, groupBy } = query;
    const values = { metric, over: overTime, by: groupBy.join(', '), from, to };
    return [['In metrics', toArea('/explore-metrics', values)], rule];
  }
  if (query.kind !== 'aggregate' && query.kind !== 'rows') return query.kind === 'formula' ? [rule] : [];
  const records = recordsOf[query.signal];
  const found =
    records === undefined ? [] : [[records[0], toArea(records[1], { search: query.search ?? '', from, to })] as const];
  return query.kind === 'rows' ? found : [...found, rule];
};
