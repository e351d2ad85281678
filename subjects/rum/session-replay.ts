/** Recordings of sessions: in order, without repetitions, with the gaps between them. */
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import type { TenantReader } from '../../queries/tenant-reader.ts';

export const ReplayGap = z.strictObject({
  tab: z.string().describe('Document that was recorded'),
  first: z.int().describe('Number of the first missing event'),
  last: z.int(),
  from: z.number().describe('Milliseconds since 1970 of the last event before the gap'),
  to: z.number().describe('Milliseconds since 1970 of the first event after it'),
});
export type ReplayGap = z.output<typeof ReplayGap>;

/** A stored chunk without its events. */
export interface ReplayPart {
  readonly tab: string;
  readonly first: number;
  readonly last: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly hasSnapshot: boolean;
  /** Compressed bytes */
  readonly bytes: number;
}

interface PartRow {
  readonly tab: string;
  readonly first: number;
  readonly last: number;
  readonly from: string;
  readonly to: string;
  readonly snapshot: number;
  readonly bytes: string;
}

const maxParts = 20_000;
/** Compressed bytes of a page; its last chunk may exceed them. */
const maxPageBytes = 1024 * 1024;

const isOfSession =
  "tenant_id = {tenant:String} AND session_id = {session:String} AND ({project:String} = '' OR project_id = {project:String})";

export interface ReplayRequest {
  readonly session: string;
  readonly projectId: string | undefined;
}

const toParameters = ({ session, projectId = '' }: ReplayRequest) => ({ session, project: projectId });

/**
 * Returns the chunks of a session in the order in which a player shows them: one document after the other, by their
 * beginnings. A chunk whose events earlier chunks contain is left out.
 */
export const listReplayParts = async ({ columns }: TenantReader, request: ReplayRequest): Promise<ReplayPart[]> => {
  const rows = await columns.query<PartRow>(
    `SELECT tab, first, max(rum_replays.last) AS last, toString(min(from_ms)) AS from, toString(max(to_ms)) AS to,
      toUInt8(max(has_snapshot)) AS snapshot, toString(max(length(data))) AS bytes
    FROM rum_replays WHERE ${isOfSession} GROUP BY tab, first ORDER BY tab, first LIMIT ${maxParts}`,
    toParameters(request),
  );
  const documents = Map.groupBy(rows, ({ tab }) => tab);
  return [...documents.values()]
    .map(toDistinctParts)
    .toSorted(([left], [right]) => (left?.fromMs ?? 0) - (right?.fromMs ?? 0))
    .flat();
};

const toDistinctParts = (rows: readonly PartRow[]): ReplayPart[] => {
  let next = 0;
  return rows.flatMap((row) => {
    if (row.last < next) return [];
    next = row.last + 1;
    const { tab, first, last, from, to, snapshot, bytes } = row;
    return [
      { tab, first, last, fromMs: Number(from), toMs: Number(to), hasSnapshot: snapshot === 1, bytes: Number(bytes) },
    ];
  });
};

/** Returns the chunk with the last complete picture before a time; the first one if there is none. */
export const findReplayStart = (parts: readonly ReplayPart[], fromMs: number): number =>
  Math.max(
    0,
    parts.findLastIndex((part) => part.hasSnapshot && part.fromMs <= fromMs),
  );

/** Returns the end of the page that begins at `start`, which has at least one chunk. */
export const findPageEnd = (parts: readonly ReplayPart[], start: number): number => {
  let bytes = 0;
  let end = start;
  while (end < parts.length && (end === start || bytes < maxPageBytes)) {
    bytes += parts[end]?.bytes ?? 0;
    end++;
  }
  return end;
};

/** Returns the missing numbers before each chunk from `start` to `end`. */
export const listReplayGaps = (parts: readonly ReplayPart[], start: number, end: number): ReplayGap[] =>
  parts.slice(start, end).flatMap((part, index) => {
    const before = parts[start + index - 1];
    const expected = before?.tab === part.tab ? before.last + 1 : 0;
    if (part.first <= expected) return [];
    const from = before?.tab === part.tab ? before.toMs : part.fromMs;
    return [{ tab: part.tab, first: expected, last: part.first - 1, from, to: part.fromMs }];
  });

/** An event of rrweb, as it was recorded but for masks. */
export type ReplayEvent = Readonly<Record<string, unknown>>;

/** Returns the events of chunks, in their order. */
export const readReplayEvents = async (
  { columns }: TenantReader,
  request: ReplayRequest,
  parts: readonly ReplayPart[],
): Promise<ReplayEvent[]> => {
  const rows = await columns.query<{ readonly tab: string; readonly first: number; readonly data: string }>(
    `SELECT tab, first, any(data) AS data FROM rum_replays
    WHERE ${isOfSession} AND concat(tab, ' ', toString(first)) IN {parts:Array(String)} GROUP BY tab, first`,
    { ...toParameters(request), parts: parts.map(({ tab, first }) => `${tab} ${first}`) },
  );
  const dataByPart = new Map(rows.map(({ tab, first, data }) => [`${tab} ${first}`, data]));
  return parts.flatMap(({ tab, first }) => {
    const data = dataByPart.get(`${tab} ${first}`);
    if (data === undefined) return [];
    return JSON.parse(zstdDecompressSync(Buffer.from(data, 'base64')).toString('utf8')) as ReplayEvent[];
  });
};

/** Time that a recording covers, in milliseconds since 1970; `null` without one. */
export interface ReplayTimes {
  readonly fromMs: number;
  readonly toMs: number;
}

export const getReplayTimes = (parts: readonly ReplayPart[]): ReplayTimes | null =>
  parts.length === 0
    ? null
    : {
        fromMs: parts.reduce((earliest, { fromMs }) => Math.min(earliest, fromMs), Number.MAX_SAFE_INTEGER),
        toMs: parts.reduce((latest, { toMs }) => Math.max(latest, toMs), 0),
      };

/** Events that a recording shows although they are not exactly within one of its chunks */
const toleranceMs = 1_000;

/** Returns the offset of an event in a recording; `null` if no chunk covers the time of the event. */
export const findReplayOffset = (parts: readonly ReplayPart[], timeMs: number): number | null => {
  const times = getReplayTimes(parts);
  const isCovered = parts.some(({ fromMs, toMs }) => timeMs >= fromMs - toleranceMs && timeMs <= toMs + toleranceMs);
  return times !== null && isCovered ? Math.min(Math.max(0, timeMs - times.fromMs), times.toMs - times.fromMs) : null;
};

/** SQL of the ids of sessions with a recording. */
export const recordedSessionsSql = 'SELECT session_id FROM rum_replays WHERE tenant_id = {tenant:String}';

/** Returns which of these sessions have a recording. */
export const readRecordedSessions = async (
  { columns }: TenantReader,
  sessions: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (sessions.length === 0) return new Set();
  const rows = await columns.query<{ readonly id: string }>(
    `${recordedSessionsSql.replace('SELECT session_id', 'SELECT session_id AS id')} AND session_id IN {sessions:Array(String)} GROUP BY id`,
    { sessions: [...sessions] },
  );
  return new Set(rows.map(({ id }) => id));
};
