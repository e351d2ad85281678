/** Events of one session in the order of their time, and the traces that they belong to. */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { rumEventsSource } from '../../queries/signals/rum-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { loadPhases, type RumEventKind, rumEventKinds } from '../../schemas/rum.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { findReplayOffset, type ReplayPart } from './session-replay.ts';

export const SessionEvent = z.strictObject({
  id: z.string(),
  timestamp: z.string(),
  offsetMs: z.number().describe('Milliseconds since the start of the session'),
  replayOffsetMs: z
    .number()
    .nullable()
    .describe('Milliseconds since the start of the recording; `null` if it does not cover the event'),
  kind: z.enum(rumEventKinds),
  name: z.string().nullable().describe('Name of the vital, action, sign of frustration, log level or custom event'),
  viewId: z.string().nullable(),
  page: z.string().nullable(),
  url: z.string().nullable(),
  value: z.number().nullable().describe('Value of a vital'),
  rating: z.string().nullable(),
  navigationType: z.string().nullable(),
  element: z.string().nullable(),
  elementText: z.string().nullable(),
  durationMs: z.number().nullable(),
  phases: z.partialRecord(z.enum(loadPhases), z.number()),
  target: z.string().nullable().describe('URL of the resource or request'),
  resourceType: z.string().nullable(),
  party: z.string().nullable(),
  bytes: z.number().nullable(),
  isCached: z.boolean().nullable(),
  method: z.string().nullable(),
  status: z.int().nullable(),
  message: z.string().nullable(),
  errorType: z.string().nullable(),
  isHandled: z.boolean().nullable(),
  stack: z.string().nullable(),
  fingerprint: z.string().nullable().describe('Error group, for `GET /api/errors/{id}`'),
  traceId: z.string().nullable().describe('Trace, for `GET /api/traces/{id}`'),
  spanId: z.string().nullable(),
  logId: z.string().nullable().describe('Log record, for `GET /api/logs/{id}`'),
  attributes: z.record(z.string(), z.string()),
});
export type SessionEvent = z.output<typeof SessionEvent>;

export const SessionTrace = z.strictObject({
  traceId: z.string(),
  startedAt: z.string(),
  durationMs: z.number().describe('From the first to the last span'),
  spans: z.int(),
  errors: z.int().describe('Spans with the status error'),
  services: z.array(z.string()).describe('Services of its spans, at most 20'),
});
export type SessionTrace = z.output<typeof SessionTrace>;

export interface EventPosition {
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}

interface Row extends EventPosition {
  readonly kind: RumEventKind;
  readonly texts: readonly string[];
  readonly value: number | null;
  readonly duration_ms: number | null;
  readonly bytes: string | null;
  readonly status: number;
  readonly phases: SessionEvent['phases'];
  readonly attributes: Readonly<Record<string, string>>;
}

const textColumns = [
  'name',
  'view_id',
  'page',
  'url',
  'rating',
  'navigation_type',
  'element',
  'element_text',
  'target',
  'resource_type',
  'party',
  'cached',
  'method',
  'message',
  'error_type',
  'handled',
  'stack',
  'fingerprint',
  'trace_id',
  'span_id',
  'record_id',
] as const;
type TextColumn = (typeof textColumns)[number];

const toBoolean = (text: string | null): boolean | null => (text === null ? null : text === 'true');

const toEvent = (row: Row, startedAtNs: bigint, recording: readonly ReplayPart[]): SessionEvent => {
  const read = (column: TextColumn): string | null => toNullIfEmpty(row.texts[textColumns.indexOf(column)] ?? '');
  const timeNs = BigInt(row.time);
  return {
    id: `${row.time}-${row.partition}-${row.offset}-${row.ordinal}`,
    timestamp: formatTime(timeNs),
    offsetMs: Number(timeNs - startedAtNs) / 1e6,
    replayOffsetMs: findReplayOffset(recording, Number(timeNs / 1_000_000n)),
    kind: row.kind,
    name: read('name'),
    viewId: read('view_id'),
    page: read('page'),
    url: read('url'),
    value: row.value,
    rating: read('rating'),
    navigationType: read('navigation_type'),
    element: read('element'),
    elementText: read('element_text'),
    durationMs: row.duration_ms,
    phases: row.phases,
    target: read('target'),
    resourceType: read('resource_type'),
    party: read('party'),
    bytes: row.bytes === null ? null : Number(row.bytes),
    isCached: toBoolean(read('cached')),
    method: read('method'),
    status: row.status === 0 ? null : row.status,
    message: read('message'),
    errorType: read('error_type'),
    isHandled: toBoolean(read('handled')),
    stack: read('stack'),
    fingerprint: read('fingerprint'),
    traceId: read('trace_id'),
    spanId: read('span_id'),
    logId: read('record_id'),
    attributes: { ...row.attributes },
  };
};

interface EventsRequest {
  readonly session: string;
  readonly application: string;
  readonly range: Range;
  readonly kinds: readonly RumEventKind[];
  readonly limit: number;
  /** Chunks of the recording of the session */
  readonly recording: readonly ReplayPart[];
  readonly after?: EventPosition | undefined;
}

/** Returns events of a session, the earliest first, each with its position. */
export const readSessionEvents = async (
  { columns }: TenantReader,
  { session, application, range, kinds, limit, recording, after }: EventsRequest,
): Promise<{ readonly event: SessionEvent; readonly position: EventPosition }[]> => {
  const positionSql =
    after === undefined
      ? ''
      : ' AND (toUnixTimestamp64Nano(timestamp), partition, offset, ordinal) > ({time:Int64}, {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32})';
  const rows = await columns.query<Row>(
    `SELECT toString(toUnixTimestamp64Nano(timestamp)) AS time, toString(partition) AS partition, toString(offset) AS offset, toString(ordinal) AS ordinal,
      toString(kind) AS kind, [${textColumns.map((column) => `toString(${column})`).join(', ')}] AS texts,
      value, duration_ms, if(isNull(bytes), NULL, toString(bytes)) AS bytes, status, phases, attributes
    FROM (SELECT * FROM ${rumEventsSource} WHERE session_id = {session:String} AND service = {application:String}${kinds.length === 0 ? '' : ' AND kind IN {kinds:Array(String)}'}${positionSql}
      ORDER BY timestamp, partition, offset, ordinal LIMIT ${limit}) AS found
    ORDER BY found.timestamp, found.partition, found.offset, found.ordinal`,
    {
      session,
      application,
      from: String(range.from),
      to: String(range.to),
      ...(kinds.length > 0 && { kinds: [...kinds] }),
      ...(after !== undefined && { ...after }),
    },
  );
  const startedAtNs = range.from;
  return rows.map((row) => ({
    event: toEvent(row, startedAtNs, recording),
    position: { time: row.time, partition: row.partition, offset: row.offset, ordinal: row.ordinal },
  }));
};

const maxTraces = 200;
/** Spans of a backend may begin before or end after the events of a page, because clocks differ. */
const clockToleranceNs = 600_000_000_000n;

/** Returns the traces of events, with their spans in all services. */
export const readSessionTraces = async (
  { columns }: TenantReader,
  traceIds: readonly string[],
  range: Range,
): Promise<SessionTrace[]> => {
  const ids = [...new Set(traceIds)].slice(0, maxTraces);
  if (ids.length === 0) return [];
  const rows = await columns.query<{
    id: string;
    first: string;
    last: string;
    total: string;
    errors: string;
    services: readonly string[];
  }>(
    `SELECT lower(hex(trace_id)) AS id, toString(min(toUnixTimestamp64Nano(timestamp))) AS first,
      toString(max(toUnixTimestamp64Nano(timestamp) + toInt64(duration))) AS last,
      toString(count()) AS total, toString(countIf(status_code = 2)) AS errors, arraySort(groupUniqArray(20)(toString(service))) AS services
    FROM spans WHERE tenant_id = {tenant:String} AND trace_id IN (SELECT toFixedString(unhex(arrayJoin({ids:Array(String)})), 16))
      AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
    GROUP BY trace_id ORDER BY first`,
    { ids, from: String(range.from - clockToleranceNs), to: String(range.to + clockToleranceNs) },
  );
  return rows.map(({ id, first, last, total, errors, services }) => ({
    traceId: id,
    startedAt: formatTime(BigInt(first)),
    durationMs: Number(BigInt(last) - BigInt(first)) / 1e6,
    spans: Number(total),
    errors: Number(errors),
    services: [...services],
  }));
};
