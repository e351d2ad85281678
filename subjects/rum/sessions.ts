/** Sessions of browsers, running ones included. */
import { z } from 'zod';
import { buildProjectScopeCondition, toProjectScopeParameters } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { rumReportsSource } from '../../queries/signals/rum-events-source.ts';
import { parseSort } from '../../queries/sort.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { buildEventsCondition, type RumFilter } from './scope.ts';
import { readRecordedSessions, recordedSessionsSql } from './session-replay.ts';

/** A session without events for this time has ended. */
const inactiveMs = 30 * 60_000;
/** Longest session, for the hours that are read around a range. */
const longestSessionSeconds = 24 * 3600;

export const Session = z.strictObject({
  id: z.string(),
  application: z.string(),
  projectId: z.string(),
  startedAt: z.string(),
  lastSeenAt: z.string(),
  durationMs: z.number(),
  hasReplay: z.boolean().describe('Whether the session was recorded, for `GET /api/rum/sessions/{id}/replay`'),
  isActive: z.boolean().describe('Whether events arrived within 30 minutes, and the SDK reported no end'),
  events: z.int(),
  views: z.int(),
  actions: z.int(),
  errors: z.int(),
  frustrations: z.int(),
  resources: z.int().describe('Resources and requests'),
  pages: z.array(z.string()).describe('Page groups of its views, at most 50'),
  entryPage: z.string().nullable(),
  exitPage: z.string().nullable(),
  userId: z.string().nullable(),
  device: z.string().nullable(),
  browser: z.string().nullable(),
  browserVersion: z.string().nullable(),
  os: z.string().nullable(),
  osVersion: z.string().nullable(),
  country: z.string().nullable(),
  environment: z.string().nullable(),
  release: z.string().nullable(),
  sdk: z.string().nullable(),
  sdkVersion: z.string().nullable(),
});
export type Session = z.output<typeof Session>;

const sortColumns = {
  startedAt: 'toUnixTimestamp64Nano(first)',
  duration: 'toInt64(toUnixTimestamp64Nano(last) - toUnixTimestamp64Nano(first))',
  views: 'toInt64(views)',
  errors: 'toInt64(errors)',
  frustrations: 'toInt64(frustrations)',
} as const;
export const sessionSorts = Object.keys(sortColumns) as (keyof typeof sortColumns)[];
export type SessionSort = keyof typeof sortColumns | `-${keyof typeof sortColumns}`;

const flag = z.enum(['true', 'false']).optional();
const count = z.coerce.number().int().min(0).max(1e9).optional();

/** Query parameters of sessions, in addition to those of events. */
export const sessionFilterParameters = {
  userId: z.string().min(1).max(256).optional().describe('User'),
  hasErrors: flag.describe('Whether the session has errors'),
  hasFrustrations: flag.describe('Whether the session has signs of frustration'),
  hasReplay: flag.describe('Whether the session was recorded'),
  isActive: flag.describe('Whether the session is running'),
  minDurationMs: count.describe('Shortest duration in milliseconds'),
  maxDurationMs: count.describe('Longest duration in milliseconds'),
  minViews: count.describe('Smallest number of views'),
  minErrors: count.describe('Smallest number of errors'),
};

export interface SessionFilter extends RumFilter {
  readonly userId?: string | undefined;
  readonly hasErrors?: 'true' | 'false' | undefined;
  readonly hasFrustrations?: 'true' | 'false' | undefined;
  readonly hasReplay?: 'true' | 'false' | undefined;
  readonly isActive?: 'true' | 'false' | undefined;
  readonly minDurationMs?: number | undefined;
  readonly maxDurationMs?: number | undefined;
  readonly minViews?: number | undefined;
  readonly minErrors?: number | undefined;
}

export interface SessionPosition {
  readonly value: string;
  readonly id: string;
}

interface Row {
  readonly id: string;
  readonly service: string;
  readonly project: string;
  readonly first_ns: string;
  readonly last_ns: string;
  readonly sort_value: string;
  readonly event_count: string;
  readonly view_count: string;
  readonly action_count: string;
  readonly error_count: string;
  readonly frustration_count: string;
  readonly resource_count: string;
  readonly ended: string;
  readonly page_list: readonly string[];
  readonly entry_text: string;
  readonly exit_text: string;
  readonly fields: readonly string[];
}

/** Length of the time before the page in `entry` and `exit`. */
const timeLength = '2026-01-01 00:00:00.000000000 '.length;

const fieldColumns = [
  'user_id',
  'device',
  'browser',
  'browser_version',
  'os',
  'os_version',
  'country',
  'environment',
  'release',
  'sdk',
  'sdk_version',
];

const toSession = (row: Row, nowMs: number, recorded: ReadonlySet<string>): Session => {
  const [first, last] = [BigInt(row.first_ns), BigInt(row.last_ns)];
  const [userId, device, browser, browserVersion, os, osVersion, country, environment, release, sdk, sdkVersion] =
    row.fields.map(toNullIfEmpty);
  return {
    id: row.id,
    application: row.service,
    projectId: row.project,
    startedAt: formatTime(first),
    lastSeenAt: formatTime(last),
    durationMs: Number(last - first) / 1e6,
    hasReplay: recorded.has(row.id),
    isActive: row.ended === '0' && nowMs - Number(last / 1_000_000n) < inactiveMs,
    events: Number(row.event_count),
    views: Number(row.view_count),
    actions: Number(row.action_count),
    errors: Number(row.error_count),
    frustrations: Number(row.frustration_count),
    resources: Number(row.resource_count),
    pages: [...row.page_list],
    entryPage: row.entry_text.startsWith('~') ? null : toNullIfEmpty(row.entry_text.slice(timeLength)),
    exitPage: toNullIfEmpty(row.exit_text.slice(timeLength)),
    userId: userId ?? null,
    device: device ?? null,
    browser: browser ?? null,
    browserVersion: browserVersion ?? null,
    os: os ?? null,
    osVersion: osVersion ?? null,
    country: country ?? null,
    environment: environment ?? null,
    release: release ?? null,
    sdk: sdk ?? null,
    sdkVersion: sdkVersion ?? null,
  };
};

interface Conditions {
  readonly where: string;
  readonly having: string;
  readonly parameters: Record<string, string | number>;
}

const equalColumns = {
  release: 'releases',
  environment: 'environments',
  device: 'devices',
  browser: 'browsers',
  os: 'systems',
  country: 'countries',
  userId: 'users',
} as const;

const toFlagSql = (value: 'true' | 'false' | undefined, condition: string): string[] => {
  if (value === undefined) return [];
  return [value === 'true' ? condition : `NOT (${condition})`];
};

/** Returns the conditions on merged sessions. */
const buildConditions = (filter: SessionFilter, nowMs: number): Conditions => {
  const parameters: Record<string, string | number> = { ...toProjectScopeParameters(filter) };
  const having: string[] = [];
  for (const name of Object.keys(equalColumns) as (keyof typeof equalColumns)[]) {
    const value = filter[name];
    if (value === undefined) continue;
    having.push(`has(${equalColumns[name]}, {${name}:String})`);
    parameters[name] = value;
  }
  if (filter.page !== undefined) {
    having.push('has(all_pages, {page:String})');
    parameters['page'] = filter.page;
  }
  const minimums = {
    minDurationMs: 'duration_ms >=',
    maxDurationMs: 'duration_ms <=',
    minViews: 'views >=',
    minErrors: 'errors >=',
  };
  for (const [name, sql] of Object.entries(minimums)) {
    const value = filter[name as keyof typeof minimums];
    if (value === undefined) continue;
    having.push(`${sql} {${name}:UInt64}`);
    parameters[name] = value;
  }
  having.push(
    ...toFlagSql(filter.hasErrors, 'errors > 0'),
    ...toFlagSql(filter.hasFrustrations, 'frustrations > 0'),
    ...toFlagSql(filter.hasReplay, `session_id IN (${recordedSessionsSql})`),
    ...toFlagSql(filter.isActive, `ends = 0 AND toUnixTimestamp64Milli(last) > ${Math.trunc(nowMs - inactiveMs)}`),
  );
  if (filter.application !== undefined) parameters['application'] = filter.application;
  return {
    where: `${buildProjectScopeCondition(filter)}${filter.application === undefined ? '' : ' AND service = {application:String}'}`,
    having: having.map((condition) => ` AND ${condition}`).join(''),
    parameters,
  };
};

/** Sessions of some hours, merged. */
const buildMergedSql = (where: string, having: string): string =>
  `SELECT session_id, service, max(project_id) AS project, min(first_seen) AS first, max(last_seen) AS last,
    sum(events) AS events, sum(views) AS views, sum(actions) AS actions, sum(errors) AS errors, sum(frustrations) AS frustrations,
    sum(resources) AS resources, sum(ends) AS ends, groupUniqArrayArray(pages) AS all_pages, min(entry) AS entry, max(exit) AS exit,
    ${fieldColumns.map((column) => `max(toString(${column})) AS max_${column}`).join(', ')},
    groupUniqArray(toString(release)) AS releases, groupUniqArray(toString(environment)) AS environments,
    groupUniqArray(device) AS devices, groupUniqArray(browser) AS browsers, groupUniqArray(os) AS systems,
    groupUniqArray(country) AS countries, groupUniqArray(user_id) AS users,
    intDiv(toUnixTimestamp64Nano(last) - toUnixTimestamp64Nano(first), 1000000) AS duration_ms
  FROM rum_sessions WHERE tenant_id = {tenant:String}${where} GROUP BY session_id, service HAVING 1${having}`;

const rowColumns = `session_id AS id, toString(service) AS service, toString(project) AS project,
  toString(toUnixTimestamp64Nano(first)) AS first_ns, toString(toUnixTimestamp64Nano(last)) AS last_ns,
  toString(events) AS event_count, toString(views) AS view_count, toString(actions) AS action_count, toString(errors) AS error_count,
  toString(frustrations) AS frustration_count, toString(resources) AS resource_count, toString(ends) AS ended,
  arraySlice(arraySort(all_pages), 1, 50) AS page_list, entry AS entry_text, exit AS exit_text,
  [${fieldColumns.map((column) => `max_${column}`).join(', ')}] AS fields`;

const toHourSql = (name: string, offsetSeconds: number): string =>
  `toDateTime(intDiv({${name}:Int64}, 1000000000) + ${offsetSeconds}, 'UTC')`;

interface SessionsRequest {
  readonly range: Range;
  readonly filter: SessionFilter;
  readonly sort: SessionSort;
  readonly limit: number;
  readonly after?: SessionPosition | undefined;
}

const readStretch = async (
  { columns, nowMs }: TenantReader,
  { range, filter, sort, limit, after }: SessionsRequest,
  from: bigint,
): Promise<Row[]> => {
  const { by, direction } = parseSort(sort);
  const { where, having, parameters } = buildConditions(filter, nowMs);
  const events = filter.search === undefined ? undefined : buildEventsCondition({ search: filter.search }, range);
  const order = direction === 'ascending' ? 'ASC' : 'DESC';
  const comparison = direction === 'ascending' ? '>' : '<';
  const positionSql =
    after === undefined
      ? ''
      : ` AND (sort_number ${comparison} {afterValue:Int64} OR (sort_number = {afterValue:Int64} AND session_id > {afterId:String}))`;
  return columns.query<Row>(
    `SELECT ${rowColumns}, toString(sort_number) AS sort_value FROM (
      SELECT *, ${sortColumns[by]} AS sort_number FROM (${buildMergedSql(
        `${where} AND hour >= ${toHourSql('stretchFrom', -longestSessionSeconds)} AND hour <= ${toHourSql('to', longestSessionSeconds)}${
          events === undefined
            ? ''
            : ` AND session_id IN (SELECT session_id FROM ${rumReportsSource} WHERE session_id != '' AND ${events.sql})`
        }`,
        ` AND toUnixTimestamp64Nano(first) >= {stretchFrom:Int64} AND toUnixTimestamp64Nano(first) <= {to:Int64}${having}`,
      )})
    ) WHERE 1${positionSql} ORDER BY sort_number ${order}, session_id LIMIT ${limit}`,
    {
      ...events?.parameters,
      ...parameters,
      from: String(range.from),
      to: String(range.to),
      stretchFrom: String(from),
      ...(after !== undefined && { afterValue: after.value, afterId: after.id }),
    },
  );
};

const hourNs = 3_600_000_000_000n;

/** Returns the sessions that began in a range, one more than the limit if there are more, each with its position. */
export const readSessions = async (
  reader: TenantReader,
  request: SessionsRequest,
): Promise<{ readonly session: Session; readonly position: SessionPosition }[]> => {
  const { range, sort, limit, after } = request;
  const newestNs = after !== undefined && sort === '-startedAt' ? BigInt(after.value) : range.to;
  // The newest sessions are at the end of the range, which is read first.
  const stretches = sort === '-startedAt' ? [hourNs, 8n * hourNs, 48n * hourNs] : [];
  const starts = [...stretches.map((length) => newestNs - length).filter((start) => start > range.from), range.from];
  let rows: Row[] = [];
  for (const start of starts) {
    rows = await readStretch(reader, { ...request, limit: limit + 1 }, start);
    if (rows.length > limit) break;
  }
  const recorded = await readRecordedSessions(
    reader,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    session: toSession(row, reader.nowMs, recorded),
    position: { value: row.sort_value, id: row.id },
  }));
};

/** Returns a session by its id, of an application if several have the same; undefined without one. */
export const readSession = async (
  reader: TenantReader,
  id: string,
  { from, filter }: { readonly from: bigint; readonly filter: Pick<RumFilter, 'projectId' | 'scope' | 'application'> },
): Promise<Session | undefined> => {
  const { columns, nowMs } = reader;
  const { where, parameters } = buildConditions(filter, nowMs);
  const [row] = await columns.query<Row>(
    `SELECT ${rowColumns}, '0' AS sort_value FROM (${buildMergedSql(
      `${where} AND session_id = {session:String} AND hour >= ${toHourSql('from', 0)}`,
      '',
    )}) ORDER BY last DESC LIMIT 1`,
    { ...parameters, session: id, from: String(from) },
  );
  return row === undefined ? undefined : toSession(row, nowMs, await readRecordedSessions(reader, [id]));
};
