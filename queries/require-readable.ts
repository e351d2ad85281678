/** Determines whether a reader may run a query. */
import { requireReadScope } from './entitlement.ts';
import { listSignals } from './freshness.ts';
import type { Query } from './query.ts';
import { getQueryKind, listPartQueries } from './query-kind.ts';
import { type Range, requireRetained } from './range.ts';
import type { TenantReader } from './tenant-reader.ts';

/**
 * Throws if a reader may not read a data source of the query, including those of its parts: `UPGRADE_REQUIRED` if the
 * plan excludes one, `FORBIDDEN` if the API token lacks a read scope, `RETENTION_EXCEEDED` if the range begins too early.
 */
export const requireReadable = (query: Query, range: Pick<Range, 'from'>, reader: TenantReader): void => {
  for (const group of listResultGroups(query)) requireReadScope(reader, group);
  for (const signal of listSignals(query)) requireRetained(range, { caller: reader, signal, nowMs: reader.nowMs });
};

/** Returns the groups of the API whose stored results a query reads. */
const listResultGroups = (query: Query): readonly string[] => [
  ...[getQueryKind(query).group ?? []].flat(),
  ...listPartQueries(query).flatMap(([, part]) => listResultGroups(part)),
];
