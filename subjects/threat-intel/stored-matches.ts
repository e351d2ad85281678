/** Stored matches of threat indicators */

import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { createHistoryCondition, type HistoryPage } from '../events/history-page.ts';

export interface StoredMatch {
  readonly id: string;
  readonly ms: string;
  readonly last_ms: string;
  readonly project: string;
  readonly type: IndicatorType;
  readonly value: string;
  readonly source: string;
  readonly score: number;
  readonly field: string;
  readonly observed: string;
  readonly record_id: string;
  readonly total: string;
  readonly service: string;
  readonly host: string;
  readonly user: string;
  readonly retro_hunt: boolean;
}

/** Columns by which matches can be filtered for equality */
export const matchFilters = ['type', 'value', 'source', 'field', 'service', 'host', 'user'] as const;

export type MatchFilter = Readonly<Partial<Record<(typeof matchFilters)[number], string | undefined>>> & {
  readonly projectId?: string | undefined;
  readonly minScore?: number | undefined;
};

/**
 * Returns a page of matches, the newest first. If several counts of a match are stored, its latest count is
 * returned.
 */
export const readMatches = (
  { columns }: Pick<TenantReader, 'columns'>,
  { projectId, minScore, ...equalityFilters }: MatchFilter,
  page: HistoryPage,
): Promise<StoredMatch[]> => {
  const { sql, values } = createHistoryCondition(page, 'id');
  const filteredColumns = matchFilters.filter((column) => equalityFilters[column] !== undefined);
  const conditions = [
    sql,
    ...filteredColumns.map((column) => `${column} = {${column}:String}`),
    ...(projectId === undefined ? [] : ['project_id = {project:String}']),
    ...(minScore === undefined ? [] : ['score >= {minScore:UInt8}']),
  ];
  return columns.query<StoredMatch>(
    `SELECT id, toString(toUnixTimestamp64Milli(time)) AS ms, toString(toUnixTimestamp64Milli(last_time)) AS last_ms,
      project_id AS project, type, value, source, score, field, observed, record_id, toString(count) AS total, service, host, user, retro_hunt
    FROM threat_matches WHERE tenant_id = {tenant:String} AND ${conditions.join(' AND ')}
    ORDER BY time DESC, id DESC, count DESC LIMIT 1 BY id LIMIT ${page.limit}`,
    {
      ...values,
      ...Object.fromEntries(filteredColumns.map((column) => [column, equalityFilters[column] ?? ''])),
      ...(projectId !== undefined && { project: projectId }),
      ...(minScore !== undefined && { minScore: String(minScore) }),
    },
    { maxResultRows: page.limit },
  );
};
