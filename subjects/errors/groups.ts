/** Error groups of a range */

import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { type Incompleteness, Unknown } from '../../queries/result.ts';
import { listSortValues, parseSort } from '../../queries/sort.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { errorSources } from '../../schemas/error-occurrences.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import { type ErrorStatus, errorGroupStatuses } from '../../schemas/resources/error-group.ts';
import { chooseStep } from '../log-patterns/pattern-counts.ts';
import { buildCountedOccurrencesSql } from './counted-occurrences.ts';
import { type ErrorDecisions, FingerprintMerges } from './merges.ts';
import {
  createErrorScope,
  createIncludedScope,
  type ErrorFilter,
  type ErrorScope,
  type IncludedScope,
} from './scope.ts';
import { type ErrorGroupStatus, ErrorGroupStatuses } from './states.ts';

const trendSteps = 30;
const maxNames = 50;
const hourMs = 3_600_000;

/** Fields of the status of an error group */
export const ErrorStatusFields = z.strictObject({
  status: z
    .enum(errorGroupStatuses)
    .describe(
      'Current status. A resolved or temporarily ignored group becomes unresolved automatically when the error occurs again.',
    ),
  isRegressed: z.boolean().describe('Whether the error occurred again after it was resolved'),
  regressedAt: z.string().nullable().describe('Time of the first occurrence after the resolution'),
  assigneeId: z.string().nullable(),
});

export const ErrorGroup = z.strictObject({
  id: z.string().describe('Fingerprint that identifies the group: its version and a hash of its components'),
  type: z.string().nullable(),
  message: z.string().describe('Message of the last occurrence'),
  culprit: z
    .string()
    .nullable()
    .describe('Frame to examine first; the operation for a span that failed without an exception'),
  count: z.int().describe('Occurrences in the range that match the filters'),
  users: z.union([z.int(), Unknown]).describe('Distinct `user.id` or `enduser.id` values among the occurrences'),
  unhandled: z.int().describe('Occurrences whose exception was recorded as unhandled'),
  firstSeen: z.string().describe('Time of the first occurrence within the retention'),
  lastSeen: z.string().describe('Time of the last occurrence, also outside the range'),
  firstSeenInRange: z
    .string()
    .nullable()
    .describe('Time of the first occurrence in the range; `null` if there is none'),
  lastSeenInRange: z.string().nullable(),
  services: z.array(z.string()).describe('Services with the most occurrences first, at most 50'),
  environments: z.array(z.string()),
  sources: z.array(z.enum(errorSources)).describe('Data sources in which occurrences were found'),
  ...ErrorStatusFields.shape,
  isNew: z.boolean().describe('Whether the group was first seen within the range'),
  trend: z.strictObject({ from: z.string(), stepSeconds: z.int(), counts: z.array(z.int()) }),
  fingerprints: z.array(z.string()).describe("The group's own fingerprint, and those that were merged into it"),
});
export type ErrorGroup = z.output<typeof ErrorGroup>;

/** SQL expressions by sort order, as integers. A list of a range is frozen at the time of its first page. */
const sortColumns = { lastSeen: 'last', firstSeen: 'first_ever', count: 'total', users: 'users' } as const;
export const errorSorts = listSortValues(Object.keys(sortColumns) as (keyof typeof sortColumns)[]);
export type ErrorSort = (typeof errorSorts)[number];

export interface GroupsQuery {
  readonly range: Range;
  readonly filter: ErrorFilter & { readonly status?: ErrorStatus | undefined; readonly search?: string | undefined };
  /** Time at which the list began, epoch milliseconds; data that is ingested later is not on its pages */
  readonly insertedBeforeMs: number;
  readonly sort: ErrorSort;
  readonly limit: number;
  readonly after?: { readonly value: string; readonly id: string } | undefined;
}

interface Row {
  readonly id: string;
  readonly total: string;
  readonly users: string;
  readonly unhandled: string;
  readonly first: string;
  readonly last: string;
  readonly first_ever: string;
  readonly last_ever: string;
  readonly services: readonly string[];
  readonly environments: readonly string[];
  readonly sources: readonly (typeof errorSources)[number][];
  readonly type: string;
  readonly message: string;
  readonly culprit: string;
}

const toNanosecondsSql = (column: string): string => `toUnixTimestamp64Nano(${column})`;

/** Statistics of each group in the range, and its data of any time */
const buildGroupsSql = (
  { group }: FingerprintMerges['sql'],
  occurrences: string,
  includedScope: IncludedScope,
  join = 'INNER',
): string => `SELECT known.id AS id, total, users, unhandled,
  first, last, first_ever, last_ever, services, environments, sources, type, message, culprit
FROM (
  SELECT ${group} AS id, sum(occurrences) AS total, uniqExactArray(met_by) AS users, sum(not_handled) AS unhandled,
    ${toNanosecondsSql('min(first_seen)')} AS first, ${toNanosecondsSql('max(last_seen)')} AS last, topKWeighted(${maxNames})(service, occurrences) AS services,
    arraySort(arrayFilter(each -> each != '', groupUniqArray(${maxNames})(environment))) AS environments, arraySort(groupUniqArray(source)) AS sources
  FROM ${occurrences} GROUP BY id
) AS counted
${join} JOIN (
  SELECT ${group} AS id, min(${toNanosecondsSql('first_seen')}) AS first_ever, max(${toNanosecondsSql('last_seen')}) AS last_ever,
    argMax(type, last_seen) AS type, argMax(message, last_seen) AS message, argMax(culprit, last_seen) AS culprit
  FROM (
    SELECT fingerprint, service, environment, release, source, project_id, min(first_seen) AS first_seen, max(last_seen) AS last_seen,
      anyLast(type) AS type, anyLast(message) AS message, anyLast(culprit) AS culprit
    FROM error_groups WHERE ${includedScope.condition} GROUP BY fingerprint, service, environment, release, source, project_id
  ) GROUP BY id
) AS known ON counted.id = known.id`;

/** Words that must all occur in the type, message or culprit */
const buildSearchCondition = (
  search: string | undefined,
  includedScope: IncludedScope,
): { sql: string; parameters: QueryParameters } => {
  const words = (search ?? '').split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return { sql: '', parameters: {} };
  const conditions = words.map(
    (_, index) => `positionCaseInsensitiveUTF8(concat(type, ' ', message, ' ', culprit), {word${index}:String}) > 0`,
  );
  return {
    sql: ` AND fingerprint IN (SELECT fingerprint FROM error_groups WHERE ${includedScope.condition} AND ${conditions.join(' AND ')})`,
    parameters: Object.fromEntries(words.map((word, index) => [`word${index}`, word])),
  };
};

const buildStatusCondition = (
  status: ErrorStatus | undefined,
  states: ErrorGroupStatuses,
): { sql: string; parameters: QueryParameters } => {
  if (status === undefined) return { sql: '', parameters: {} };
  if (status !== 'unresolved')
    return {
      sql: ' AND known.id IN {withStatus:Array(String)}',
      parameters: { withStatus: states.listIdsWith(status) },
    };
  const closedIds = [...states.listIdsWith('resolved'), ...states.listIdsWith('ignored')];
  return closedIds.length === 0
    ? { sql: '', parameters: {} }
    : { sql: ' AND known.id NOT IN {closed:Array(String)}', parameters: { closed: closedIds } };
};

export interface GroupsPage {
  readonly items: ErrorGroup[];
  /** Position after which the next page begins; `undefined` on the last page */
  readonly nextPosition: { readonly value: string; readonly id: string } | undefined;
  readonly partial: readonly Incompleteness[];
}

/** Returns groups with an occurrence in the range, in the requested order. */
export const readErrorGroups = async (
  reader: TenantReader,
  query: GroupsQuery,
  decisions: ErrorDecisions,
): Promise<GroupsPage> => {
  const { range, filter, insertedBeforeMs, sort, limit, after } = query;
  const merges = new FingerprintMerges(decisions.merges);
  const states = await ErrorGroupStatuses.read(reader, merges, decisions);
  const scope = createErrorScope(reader, range, filter, insertedBeforeMs);
  const includedScope = createIncludedScope(reader, filter);
  const search = buildSearchCondition(filter.search, includedScope);
  const status = buildStatusCondition(filter.status, states);
  const column = sortColumns[parseSort(sort).by];
  const [direction, comparison] = parseSort(sort).direction === 'descending' ? ['DESC', '<'] : ['ASC', '>'];
  const positionCondition =
    after === undefined
      ? ''
      : ` AND (toInt64(${column}), known.id) ${comparison} ({afterValue:Int64}, {afterId:String})`;
  const occurrences = await buildCountedOccurrencesSql(reader, range, scope);
  const sql = buildGroupsSql(merges.sql, occurrences(search.sql), includedScope);
  const rows = await reader.columns.query<Row>(
    `${sql} WHERE true${status.sql}${positionCondition} ORDER BY ${column} ${direction}, known.id ${direction} LIMIT ${limit + 1}`,
    {
      ...scope.parameters,
      ...merges.sql.parameters,
      ...search.parameters,
      ...status.parameters,
      ...(after !== undefined && { afterValue: after.value, afterId: after.id }),
    },
  );
  const pageRows = rows.slice(0, limit);
  const lastRow = rows.length > limit ? pageRows.at(-1) : undefined;
  return {
    items: await toErrorGroups(reader, pageRows, query, { merges, states }),
    nextPosition: lastRow && { value: lastRow[column], id: lastRow.id },
    partial: scope.partial,
  };
};

interface GroupContext {
  readonly merges: FingerprintMerges;
  readonly states: ErrorGroupStatuses;
}

/** Returns one group, by its id or that of one of its fingerprints; `undefined` if there is none. */
export const readErrorGroup = async (
  reader: TenantReader,
  id: string,
  query: Pick<GroupsQuery, 'range' | 'filter' | 'insertedBeforeMs'>,
  decisions: ErrorDecisions,
): Promise<{ readonly group: ErrorGroup; readonly state: ErrorGroupStatus } | undefined> => {
  const merges = new FingerprintMerges(decisions.merges);
  const groupId = merges.getGroup(id);
  const states = await ErrorGroupStatuses.read(reader, merges, {
    states: decisions.states.filter((state) => state.id === groupId),
  });
  const fingerprintCondition = ' AND fingerprint IN {fingerprints:Array(String)}';
  const scope = createErrorScope(reader, query.range, query.filter, query.insertedBeforeMs);
  const includedScope = createIncludedScope(reader, query.filter);
  const occurrences = await buildCountedOccurrencesSql(reader, query.range, scope);
  const rows = await reader.columns.query<Row>(
    buildGroupsSql(
      merges.sql,
      occurrences(fingerprintCondition),
      { ...includedScope, condition: includedScope.condition + fingerprintCondition },
      'RIGHT',
    ),
    { ...scope.parameters, ...merges.sql.parameters, fingerprints: merges.getMembers(groupId) },
  );
  const [group] = await toErrorGroups(reader, rows, query, { merges, states });
  const state = (await states.getStatuses([groupId])).get(groupId);
  return group && state && { group, state };
};

const toIsoTime = (text: string): string => formatTime(BigInt(text));

const toErrorGroups = async (
  reader: TenantReader,
  rows: readonly Row[],
  { range, filter, insertedBeforeMs }: Pick<GroupsQuery, 'range' | 'filter' | 'insertedBeforeMs'>,
  { merges, states }: GroupContext,
): Promise<ErrorGroup[]> => {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [trends, stateById] = await Promise.all([
    readTrends(reader, merges, ids, createErrorScope(reader, range, filter, insertedBeforeMs), range),
    states.getStatuses(ids),
  ]);
  return rows.map((row): ErrorGroup => {
    const { status = 'unresolved', isRegressed = false, regressedAt = null, decided } = stateById.get(row.id) ?? {};
    return {
      id: row.id,
      type: row.type === '' ? null : row.type,
      message: row.message,
      culprit: row.culprit === '' ? null : row.culprit,
      count: Number(row.total),
      unhandled: Number(row.unhandled),
      users:
        row.users === '0'
          ? { value: null, reason: 'no occurrence contains a user: user.id is not sent' }
          : Number(row.users),
      firstSeen: toIsoTime(row.first_ever),
      lastSeen: toIsoTime(row.last_ever),
      firstSeenInRange: row.total === '0' ? null : toIsoTime(row.first),
      lastSeenInRange: row.total === '0' ? null : toIsoTime(row.last),
      services: [...row.services],
      environments: [...row.environments],
      sources: [...row.sources],
      status,
      isRegressed,
      regressedAt,
      assigneeId: decided?.assigneeId ?? null,
      isNew: BigInt(row.first_ever) >= range.from,
      trend: trends(row.id),
      fingerprints: merges.getMembers(row.id),
    };
  });
};

/** Returns the counts of each group over time. */
const readTrends = async (
  reader: TenantReader,
  merges: FingerprintMerges,
  ids: readonly string[],
  scope: ErrorScope,
  range: Range,
): Promise<(id: string) => ErrorGroup['trend']> => {
  const { from, to } = range;
  const minStepMs = chooseStep(range, trendSteps);
  // Full hours are already aggregated.
  const stepMs = minStepMs > hourMs ? Math.ceil(minStepMs / hourMs) * hourMs : minStepMs;
  const occurrences = await buildCountedOccurrencesSql(reader, range, scope, stepMs);
  const rows = await reader.columns.query<{ id: string; at: string; total: string }>(
    `SELECT ${merges.sql.group} AS id, toString(intDiv(toUnixTimestamp64Milli(first_seen), ${stepMs})) AS at, toString(sum(occurrences)) AS total
    FROM ${occurrences(' AND fingerprint IN {fingerprints:Array(String)}')} GROUP BY id, at LIMIT 100000`,
    { ...scope.parameters, ...merges.sql.parameters, fingerprints: ids.flatMap((id) => merges.getMembers(id)) },
  );
  const counts = new Map(rows.map(({ id, at, total }) => [`${id} ${at}`, Number(total)]));
  const firstStep = Math.floor(Number(from / 1_000_000n) / stepMs);
  const lastStep = Math.floor(Number(to / 1_000_000n) / stepMs);
  return (id) => ({
    from: formatTime(BigInt(firstStep * stepMs) * 1_000_000n),
    stepSeconds: stepMs / 1000,
    counts: Array.from(
      { length: lastStep - firstStep + 1 },
      (_, index) => counts.get(`${id} ${firstStep + index}`) ?? 0,
    ),
  });
};

/** Returns when a group was first seen, at any time; `undefined` if it does not exist. */
export const findGroup = async (
  reader: TenantReader,
  id: string,
  decisions: ErrorDecisions,
): Promise<{ readonly id: string; readonly firstSeen: bigint } | undefined> => {
  const merges = new FingerprintMerges(decisions.merges);
  const groupId = merges.getGroup(id);
  const { condition, parameters } = createIncludedScope(reader, {});
  const [row] = await reader.columns.query<{ first: string; rows: string }>(
    `SELECT toString(${toNanosecondsSql('min(first_seen)')}) AS first, toString(count()) AS rows FROM error_groups
    WHERE ${condition} AND fingerprint IN {fingerprints:Array(String)}`,
    { ...parameters, fingerprints: merges.getMembers(groupId) },
  );
  return row === undefined || row.rows === '0' ? undefined : { id: groupId, firstSeen: BigInt(row.first) };
};
