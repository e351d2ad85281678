/** Stored events, the newest first */
import { z } from 'zod';
import { type ProjectScope, toProjectScopeParameters } from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { eventKinds, eventSeverities, type PlatformEvent } from '../../schemas/events.ts';
import { Actor } from '../../schemas/resources/audit-record.ts';
import { signals } from '../../schemas/telemetry-signals.ts';

/**
 * Kinds of feed events: `config` is a configuration change from the audit log; `file` is a file change that no baseline
 * approves
 */
export const feedKinds = [...eventKinds, 'config', 'file'] as const;

export const FeedEvent = z.strictObject({
  id: z.string(),
  kind: z.enum(feedKinds),
  time: z.string(),
  severity: z.enum(eventSeverities),
  title: z.string(),
  text: z.string(),
  projectId: z.string(),
  service: z.string(),
  environment: z.string(),
  tags: z.record(z.string(), z.string()),
  link: z.string(),
  actor: Actor.describe('Type and id; names and addresses are in the audit log'),
  details: z.record(z.string(), z.unknown()).describe('Fields specific to the kind of event'),
});
export type FeedEvent = z.output<typeof FeedEvent>;

/** Filter of events */
export interface EventFilter extends ProjectScope {
  readonly range: Range;
  readonly kinds: readonly string[];
  readonly service?: string | undefined;
}

/**
 * Returns the range of events, which have the longest retention of all telemetry signals, whatever the plan includes.
 */
export const parseEventsRange = (
  query: { from?: string | undefined; to?: string | undefined },
  { plan, nowMs }: TenantReader,
): Range => {
  const days = Math.max(...signals.map((signal) => plan.retentionDays[signal]));
  const caller = {
    plan: { ...plan, entitlements: ['logs'], retentionDays: { logs: days, metrics: days, traces: days } },
  };
  return parseRetainedRange(query, { caller, signal: 'logs', nowMs });
};

/** Position after which a page of events begins */
export interface EventPosition {
  /** Time in milliseconds. */
  readonly time: string;
  readonly kind: string;
  readonly id: string;
}

interface Row {
  readonly id: string;
  readonly kind: FeedEvent['kind'];
  readonly ms: string;
  readonly severity: FeedEvent['severity'];
  readonly title: string;
  readonly text: string;
  readonly project: string;
  readonly service: string;
  readonly environment: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly link: string;
  readonly actor_type: FeedEvent['actor']['type'];
  readonly actor_id: string;
  readonly details: string;
}

const selectEvents =
  'SELECT id, kind, toString(toUnixTimestamp64Milli(time)) AS ms, severity, title, text, project_id AS project, service, environment, tags, link, actor_type, actor_id, details FROM events WHERE tenant_id = {tenant:String}';

/**
 * Returns events of a range, the newest first, without duplicate ids per kind. Events of the organization belong to
 * every project.
 */
export const readEvents = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { range, kinds, service, ...scope }: EventFilter,
  { limit, after }: { readonly limit: number; readonly after?: EventPosition | undefined },
): Promise<FeedEvent[]> => {
  const values = toProjectScopeParameters(scope);
  const conditions = [
    "time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC') AND kind IN {kinds:Array(String)}",
    ...(service === undefined ? [] : ['service = {service:String}']),
    ...('project' in values ? ["project_id IN ('', {project:String})"] : []),
    ...(after === undefined
      ? []
      : [
          "(time, kind, id) < (fromUnixTimestamp64Milli({afterTime:Int64}, 'UTC'), {afterKind:String}, {afterId:String})",
        ]),
  ];
  const rows = await columns.query<Row>(
    `${selectEvents} AND ${conditions.join(' AND ')} ORDER BY time DESC, kind DESC, id DESC, received_at, partition, offset LIMIT 1 BY kind, id LIMIT ${limit}`,
    {
      from: String(-(-range.from / 1_000_000n)),
      to: String(range.to / 1_000_000n),
      kinds: [...kinds],
      ...values,
      ...(service !== undefined && { service }),
      ...(after !== undefined && { afterTime: after.time, afterKind: after.kind, afterId: after.id }),
    },
  );
  return rows.map(toFeedEvent);
};

/** Returns an event by id; `undefined` until it is stored. */
export const findEvent = async (
  { columns }: Pick<TenantReader, 'columns'>,
  kind: string,
  id: string,
): Promise<FeedEvent | undefined> => {
  const rows = await columns.query<Row>(
    `${selectEvents} AND kind = {kind:String} AND id = {id:String} ORDER BY received_at, partition, offset LIMIT 1`,
    { kind, id },
  );
  return rows.map(toFeedEvent)[0];
};

const toFeedEvent = ({ ms, project, actor_type, actor_id, details, tags, ...row }: Row): FeedEvent => ({
  ...row,
  time: formatTime(BigInt(ms) * 1_000_000n),
  tags: { ...tags },
  projectId: project,
  actor: { type: actor_type, id: actor_id },
  details: JSON.parse(details) as Record<string, unknown>,
});

/** Returns an event in the form of the feed. */
export const toDisplayedEvent = ({ tenantId: _, at, ...event }: PlatformEvent): FeedEvent => ({
  ...event,
  time: formatTime(BigInt(Date.parse(at)) * 1_000_000n),
});
