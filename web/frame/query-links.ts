/** Links from a query to the areas that show its data, by kind of query */
import type { Query } from '../../queries/query.ts';
import { toArea } from './address.ts';

export interface QueryWithRange {
  readonly query: Query;
  readonly from: string;
  readonly to: string;
}

export type TitledLink = readonly [title: string, address: string];

/** Area with the data of a query; its parameters exclude the range. */
interface QueryArea {
  readonly title: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface KindLinks<KindQuery extends Query> {
  /** Returns the area with the data of the query; `undefined` if no area shows such data. */
  readonly getArea?: (query: KindQuery) => QueryArea | undefined;
  /** Whether an alert rule can evaluate the query */
  readonly canAlert: boolean;
}

const recordAreas: Readonly<Record<string, readonly [title: string, path: string]>> = {
  logs: ['Log records', '/logs'],
  traces: ['Traces', '/traces'],
};

type RecordsQuery = Extract<Query, { kind: 'rows' | 'aggregate' }>;
const getRecordsArea = ({ signal, search = '', projectId = '' }: RecordsQuery): QueryArea | undefined => {
  const [title, path] = recordAreas[signal] ?? [];
  if (title === undefined || path === undefined) return undefined;
  return {
    title,
    path,
    parameters: { search, project: projectId },
  };
};

const linksByKind: { readonly [Kind in Query['kind']]: KindLinks<Extract<Query, { readonly kind: Kind }>> } = {
  rows: {
    getArea: getRecordsArea,
    canAlert: false,
  },
  aggregate: {
    getArea: getRecordsArea,
    canAlert: true,
  },
  metric: {
    getArea: ({ metric, search = '', overTime, groupBy = [], projectId = '' }) => ({
      title: 'In metrics',
      path: '/explore-metrics',
      parameters: { metric, filter: search, over: overTime, by: groupBy.join(', '), project: projectId },
    }),
    canAlert: true,
  },
  promql: {
    getArea: ({ expression }) => ({
      title: 'In metrics',
      path: '/explore-metrics',
      parameters: { promql: expression },
    }),
    canAlert: true,
  },
  formula: { canAlert: true },
  slo: { canAlert: false },
  check: { canAlert: false },
  anomaly: { canAlert: false },
  forecast: { canAlert: false },
};

/** Returns the link to the area with the data of a query; `undefined` if no area shows such data. */
export const getDataLink = ({ query, from, to }: QueryWithRange): TitledLink | undefined => {
  const area = (linksByKind[query.kind] as KindLinks<Query>).getArea?.(query);
  return area === undefined ? undefined : [area.title, toArea(area.path, { ...area.parameters, from, to })];
};

/** Returns links to the data of a query, and to a new alert rule with the query. */
export const listQueryLinks = (ranged: QueryWithRange): readonly TitledLink[] => {
  const { query, from, to } = ranged;
  const dataLink = getDataLink(ranged);
  const data = dataLink === undefined ? [] : [dataLink];
  if (!linksByKind[query.kind].canAlert) return data;
  return [...data, ['Create alert', toArea('/alerts/rule', { query: JSON.stringify(query), from, to })]];
};
