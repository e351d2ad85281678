/** Usage over time by group */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { buildRowFilter, type HourRange, type LedgerFilter, type SumRow, sumColumns } from './ledger.ts';

/** Groupings of points with their SQL */
const groupColumns = {
  none: "''",
  signal: 'signal',
  project: 'project_id',
  key: 'key_id',
  service: 'service',
} as const;

export type Grouping = keyof typeof groupColumns;

export interface GroupedQuery extends LedgerFilter {
  readonly by: Grouping;
  readonly step: 'hour' | 'day';
}

/** Returns the groups, those with the most bytes first. */
export const readGroups = async (
  columns: TenantColumns,
  query: GroupedQuery,
  hours: HourRange,
): Promise<readonly string[]> => {
  const { where, parameters } = buildRowFilter(query, hours);
  const storedCondition = query.by === 'service' ? ' AND landed_bytes > 0' : '';
  const rows = await columns.query<{ grouped: string }>(
    `SELECT ${groupColumns[query.by]} AS grouped, sumIf(bytes, outcome = 'accepted') + sum(landed_bytes) AS weight FROM usage FINAL WHERE ${where}${storedCondition} GROUP BY grouped ORDER BY weight DESC, grouped`,
    parameters,
  );
  return rows.map(({ grouped }) => grouped);
};

/** Sums of one group, step and outcome */
export interface PointRow extends SumRow {
  readonly grouped: string;
  readonly at: string;
}

/** Returns points of groups in time order. */
export const readPoints = (
  columns: TenantColumns,
  query: GroupedQuery,
  hours: HourRange,
  groups: readonly string[],
): Promise<PointRow[]> => {
  const { where, parameters } = buildRowFilter(query, hours);
  const stepStart = query.step === 'day' ? 'toStartOfDay(hour)' : 'hour';
  return columns.query<PointRow>(
    `SELECT ${groupColumns[query.by]} AS grouped, toString(toUnixTimestamp(${stepStart})) AS at, outcome, ${sumColumns}
FROM usage FINAL WHERE ${where} AND grouped IN {groups:Array(String)} GROUP BY grouped, at, outcome ORDER BY grouped, at`,
    { ...parameters, groups },
    { maxResultRows: 1_000_000 },
  );
};
