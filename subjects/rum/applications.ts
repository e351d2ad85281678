/** Applications that sent events, and what was rejected of their browsers. */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';

export const Application = z.strictObject({
  name: z.string(),
  releases: z.array(z.string()).describe('Releases with the last session first, at most 50'),
  environments: z.array(z.string()),
  sdks: z.array(z.strictObject({ name: z.string(), version: z.string().nullable(), sessions: z.int() })),
  sampling: z
    .strictObject({ min: z.number(), max: z.number() })
    .nullable()
    .describe('Share of sessions that the SDKs report to record; `null` if they report none'),
  sessions: z.int(),
  views: z.int(),
  errors: z.int(),
  frustrations: z.int(),
  events: z.int().describe('Events of sessions'),
  lastEventAt: z.string().nullable().describe('Time of the last event in the range'),
  recordings: z
    .strictObject({
      sessions: z.int(),
      maskedValues: z.int().describe('Values that pages sent without a mask, and that were masked when they arrived'),
    })
    .describe('Recorded sessions of the range'),
  keys: z.int().describe('Active browser keys'),
  refused: z
    .array(z.strictObject({ reason: z.string(), requests: z.int(), records: z.int() }))
    .describe('Requests of its browser keys that were not stored, by reason, the most frequent first'),
});
export type Application = z.output<typeof Application>;

interface Row {
  readonly name: string;
  readonly release: string;
  readonly environment: string;
  readonly sdk: string;
  readonly sdk_version: string;
  readonly sampling_min: number | null;
  readonly sampling_max: number | null;
  readonly sessions: string;
  readonly views: string;
  readonly errors: string;
  readonly frustrations: string;
  readonly events: string;
  readonly last: string;
}

/** A browser key. */
export interface BrowserKey {
  readonly id: string;
  readonly application: string;
  readonly isActive: boolean;
}

const hourSql = (name: string): string => `toDateTime(intDiv({${name}:Int64}, 3600000000000) * 3600, 'UTC')`;
const hoursSql = `hour >= ${hourSql('from')} AND hour <= ${hourSql('to')}`;

const readRejected = async ({ columns }: TenantReader, range: Range, keys: readonly BrowserKey[]) => {
  if (keys.length === 0) return [];
  return columns.query<{ key: string; reason: string; requests: string; records: string }>(
    `SELECT toString(key_id) AS key, toString(reason) AS reason, toString(sum(requests)) AS requests, toString(sum(records)) AS records
    FROM usage FINAL WHERE tenant_id = {tenant:String} AND ${hoursSql} AND outcome IN ('rejected', 'refused', 'dead-lettered')
      AND key_id IN {keys:Array(String)} GROUP BY key_id, reason`,
    { from: String(range.from), to: String(range.to), keys: keys.map(({ id }) => id) },
  );
};

interface RecordingRow {
  readonly name: string;
  readonly sessions: string;
  readonly masked: string;
}

/** Recordings by application, each chunk once. */
const readRecordings = ({ columns }: TenantReader, range: Range, scope: ProjectScope): Promise<RecordingRow[]> =>
  columns.query<RecordingRow>(
    `SELECT name, toString(uniqExact(session_id)) AS sessions, toString(sum(masked)) AS masked FROM (
      SELECT toString(application) AS name, session_id, any(rum_replays.masked) AS masked FROM rum_replays
      WHERE tenant_id = {tenant:String} AND to_ms >= intDiv({from:Int64}, 1000000) AND from_ms <= intDiv({to:Int64}, 1000000)${buildProjectScopeCondition(scope)}
      GROUP BY name, session_id, tab, first
    ) GROUP BY name LIMIT ${maxRows}`,
    { from: String(range.from), to: String(range.to), ...toProjectScopeParameters(scope) },
  );

const maxRows = 10_000;
const maxReleases = 50;

/** Rows by application, release, environment and SDK. A session counts in each; those of one release in one. */
const readRows = ({ columns }: TenantReader, range: Range, scope: ProjectScope): Promise<Row[]> =>
  columns.query<Row>(
    `SELECT toString(service) AS name, toString(release) AS release, toString(environment) AS environment, sdk, sdk_version,
      min(sampling) AS sampling_min, max(sampling) AS sampling_max, toString(count()) AS sessions, toString(sum(views)) AS views,
      toString(sum(errors)) AS errors, toString(sum(frustrations)) AS frustrations, toString(sum(events)) AS events,
      toString(toUnixTimestamp64Nano(max(last))) AS last
    FROM (
      SELECT service, session_id, argMax(release, last_seen) AS release, argMax(environment, last_seen) AS environment,
        max(rum_sessions.sdk) AS sdk, max(rum_sessions.sdk_version) AS sdk_version, max(rum_sessions.sampling) AS sampling,
        sum(rum_sessions.views) AS views, sum(rum_sessions.errors) AS errors, sum(rum_sessions.frustrations) AS frustrations,
        sum(rum_sessions.events) AS events, max(last_seen) AS last
      FROM rum_sessions WHERE tenant_id = {tenant:String} AND ${hoursSql}${buildProjectScopeCondition(scope)} GROUP BY service, session_id
    ) GROUP BY name, release, environment, sdk, sdk_version ORDER BY last DESC LIMIT ${maxRows}`,
    { from: String(range.from), to: String(range.to), ...toProjectScopeParameters(scope) },
  );

const sumOf = (rows: readonly Row[], column: 'sessions' | 'views' | 'errors' | 'frustrations' | 'events'): number =>
  rows.reduce((sum, row) => sum + Number(row[column]), 0);

const toNames = (names: readonly string[]): string[] => [...new Set(names)].filter((name) => name !== '');

const toSdks = (rows: readonly Row[]): Application['sdks'] =>
  [...Map.groupBy(rows, ({ sdk, sdk_version: version }) => `${sdk}\n${version}`).values()].flatMap((ofSdk) => {
    const [first] = ofSdk;
    if (first === undefined || first.sdk === '') return [];
    return [
      {
        name: first.sdk,
        version: first.sdk_version === '' ? null : first.sdk_version,
        sessions: sumOf(ofSdk, 'sessions'),
      },
    ];
  });

const toSampling = (rows: readonly Row[]): Application['sampling'] => {
  const shares = rows.flatMap(({ sampling_min: low, sampling_max: high }) =>
    low === null || high === null ? [] : [low, high],
  );
  return shares.length === 0 ? null : { min: Math.min(...shares), max: Math.max(...shares) };
};

/** Returns the applications with sessions in the hours of a range, and those that have an active browser key. */
export const readApplications = async (
  reader: TenantReader,
  range: Range,
  { scope, keys }: { readonly scope: ProjectScope; readonly keys: readonly BrowserKey[] },
): Promise<Application[]> => {
  const [rows, refused, recordings] = await Promise.all([
    readRows(reader, range, scope),
    readRejected(reader, range, keys),
    readRecordings(reader, range, scope),
  ]);
  const rowsByName = Map.groupBy(rows, ({ name }) => name);
  const active = keys.filter(({ isActive }) => isActive);
  const names = new Set([...rowsByName.keys(), ...active.map(({ application }) => application)]);
  return [...names].map((name) => {
    const ofName = rowsByName.get(name) ?? [];
    const keyIds = new Set(keys.filter(({ application }) => application === name).map(({ id }) => id));
    const byReason = Map.groupBy(
      refused.filter(({ key }) => keyIds.has(key)),
      ({ reason }) => reason,
    );
    const [latest] = ofName;
    const recording = recordings.find((row) => row.name === name);
    return {
      name,
      releases: toNames(ofName.map(({ release }) => release)).slice(0, maxReleases),
      environments: toNames(ofName.map(({ environment }) => environment)),
      sdks: toSdks(ofName),
      sampling: toSampling(ofName),
      sessions: sumOf(ofName, 'sessions'),
      views: sumOf(ofName, 'views'),
      errors: sumOf(ofName, 'errors'),
      frustrations: sumOf(ofName, 'frustrations'),
      events: sumOf(ofName, 'events'),
      lastEventAt: latest === undefined ? null : formatTime(BigInt(latest.last)),
      recordings: { sessions: Number(recording?.sessions ?? 0), maskedValues: Number(recording?.masked ?? 0) },
      keys: active.filter(({ application }) => application === name).length,
      refused: [...byReason]
        .map(([reason, counts]) => ({
          reason,
          requests: counts.reduce((sum, { requests }) => sum + Number(requests), 0),
          records: counts.reduce((sum, { records }) => sum + Number(records), 0),
        }))
        .sort((left, right) => right.requests - left.requests),
    };
  });
};
