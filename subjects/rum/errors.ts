/** Errors of browsers by error group, with their sessions. */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { rumReportsSource } from '../../queries/signals/rum-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { buildEventsCondition, type RumFilter } from './scope.ts';
import { recordedSessionsSql } from './session-replay.ts';
import { MappedFrame } from './source-maps/map-frames.ts';

export const RumError = z.strictObject({
  fingerprint: z.string().describe('Error group, for `GET /api/errors/{id}`'),
  type: z.string().nullable(),
  message: z.string().describe('Message of the last error'),
  applications: z.array(z.string()),
  count: z.int(),
  unhandled: z.int().describe('Errors that the SDK reports as unhandled'),
  sessions: z.int(),
  users: z.int(),
  firstSeen: z.string().describe('Time of the first error in the range'),
  lastSeen: z.string(),
  pages: z.array(z.string()).describe('Pages with the most errors first, at most ten'),
  browsers: z.array(z.string()),
  releases: z.array(z.string()),
  replaySessionId: z.string().nullable().describe('Latest session with the error that was recorded'),
  last: z
    .strictObject({
      timestamp: z.string(),
      sessionId: z.string().nullable(),
      viewId: z.string().nullable(),
      page: z.string().nullable(),
      url: z.string().nullable(),
      release: z.string().nullable(),
      application: z.string(),
      traceId: z.string().nullable(),
      stack: z.string().nullable().describe('As the browser recorded it'),
      frames: z
        .array(MappedFrame)
        .describe('Frames of the stack, the raise site first; mapped by the source maps that are stored now'),
    })
    .describe('The last error'),
});
export type RumError = z.output<typeof RumError>;

/** A group without the frames of its last error, and the attributes in which SDKs send ids of bundles */
export interface UnmappedError extends Omit<RumError, 'last'> {
  readonly last: Omit<RumError['last'], 'frames'>;
  readonly attributes: Readonly<Record<string, string>>;
}

export const rumErrorSorts = ['count', 'sessions', 'users', 'lastSeen', 'firstSeen'] as const;

export const maxRumErrors = 5_000;

interface Row {
  readonly id: string;
  readonly total: string;
  readonly unhandled: string;
  readonly sessions: string;
  readonly users: string;
  readonly first: string;
  readonly last: string;
  readonly services: readonly string[];
  readonly pages: readonly string[];
  readonly browsers: readonly string[];
  readonly releases: readonly string[];
  readonly recorded: string;
  readonly latest: readonly [
    type: string,
    message: string,
    session: string,
    view: string,
    page: string,
    url: string,
    release: string,
    service: string,
    trace: string,
    stack: string,
    attributes: Readonly<Record<string, string>>,
  ];
}

/** Returns the errors of a range by group, in no order. */
export const readRumErrors = async (
  { columns }: TenantReader,
  range: Range,
  filter: RumFilter,
): Promise<UnmappedError[]> => {
  const { sql, parameters } = buildEventsCondition(filter, range);
  const rows = await columns.query<Row>(
    `SELECT toString(fingerprint) AS id, toString(count()) AS total, toString(countIf(handled = 'false')) AS unhandled,
      toString(uniqExactIf(session_id, session_id != '')) AS sessions, toString(uniqExactIf(user_id, user_id != '')) AS users,
      toString(toUnixTimestamp64Nano(min(timestamp))) AS first, toString(toUnixTimestamp64Nano(max(timestamp))) AS last,
      arraySort(groupUniqArray(50)(toString(service))) AS services,
      arrayFilter(each -> each != '', topK(10)(toString(page))) AS pages,
      arrayFilter(each -> each != '', topK(10)(toString(browser))) AS browsers,
      arrayFilter(each -> each != '', topK(10)(toString(release))) AS releases,
      argMaxIf(session_id, timestamp, session_id != '' AND session_id IN (${recordedSessionsSql})) AS recorded,
      argMax((toString(error_type), message, session_id, view_id, toString(page), url, toString(release), toString(service), trace_id, stack, attributes), (timestamp, partition, offset, ordinal)) AS latest
    FROM ${rumReportsSource} WHERE kind = 'error' AND ${sql} GROUP BY id ORDER BY count() DESC, id LIMIT ${maxRumErrors}`,
    parameters,
  );
  return rows.map((row) => {
    const [type, message, session, view, page, url, release, service, trace, stack, attributes] = row.latest;
    return {
      fingerprint: row.id,
      type: toNullIfEmpty(type),
      message,
      applications: [...row.services],
      count: Number(row.total),
      unhandled: Number(row.unhandled),
      sessions: Number(row.sessions),
      users: Number(row.users),
      firstSeen: formatTime(BigInt(row.first)),
      lastSeen: formatTime(BigInt(row.last)),
      pages: [...row.pages],
      browsers: [...row.browsers],
      releases: [...row.releases],
      replaySessionId: toNullIfEmpty(row.recorded),
      last: {
        timestamp: formatTime(BigInt(row.last)),
        sessionId: toNullIfEmpty(session),
        viewId: toNullIfEmpty(view),
        page: toNullIfEmpty(page),
        url: toNullIfEmpty(url),
        release: toNullIfEmpty(release),
        application: service,
        traceId: toNullIfEmpty(trace),
        stack: toNullIfEmpty(stack),
      },
      attributes,
    };
  });
};
