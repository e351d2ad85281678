/** Reads the history of notifications: their delivery attempts to channels, with the results. */
import { z } from 'zod';
import {
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../queries/cursor.ts';
import { deliveryStates, notificationReasons } from '../../schemas/notifications.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';

const time = z.iso.datetime();

export const Delivery = z.strictObject({
  id: z.string().describe('Idempotency key, equal in every attempt'),
  state: z.enum(deliveryStates),
  receiver: z.string(),
  groupKey: z.string(),
  status: z.enum(['firing', 'resolved']),
  reason: z.enum(notificationReasons),
  firing: z.int().describe('Number of firing alerts'),
  resolved: z.int().describe('Number of resolved alerts'),
  isTest: z.boolean(),
  queuedAt: time,
  attempts: z.array(
    z.strictObject({
      number: z.int(),
      at: time,
      state: z.enum(deliveryStates).describe('State after the attempt'),
      statusCode: z.int().nullable(),
      answer: z.string().describe('Beginning of the response, or the reason why there was none'),
      latencyMs: z.int(),
    }),
  ),
});
export type Delivery = z.output<typeof Delivery>;

interface Row {
  readonly id: string;
  readonly queued: string;
  readonly receiver: string;
  readonly group_key: string;
  readonly status: Delivery['status'];
  readonly reason: Delivery['reason'];
  readonly firing: number;
  readonly resolved: number;
  readonly is_test: number;
  readonly steps: readonly (readonly [number, string, Delivery['state'], number, string, number])[];
}

const toIsoTime = (ms: string): string => new Date(Number(ms)).toISOString();

const toDelivery = (row: Row): Delivery => {
  const steps = [...row.steps].sort(([left], [right]) => left - right);
  return {
    id: row.id,
    receiver: row.receiver,
    groupKey: row.group_key,
    status: row.status,
    reason: row.reason,
    firing: row.firing,
    resolved: row.resolved,
    isTest: row.is_test === 1,
    queuedAt: toIsoTime(row.queued),
    state: steps.at(-1)?.[2] ?? 'queued',
    attempts: steps
      .filter(([number]) => number > 0)
      .map(([number, at, state, statusCode, answer, latencyMs]) => ({
        number,
        at: toIsoTime(at),
        state,
        answer,
        latencyMs,
        statusCode: statusCode === 0 ? null : statusCode,
      })),
  };
};

/** Lists deliveries of a channel, latest first. */
export const listDeliveries = async (
  columns: TenantColumns,
  {
    channelId,
    state,
    groupKey,
    limit,
    cursor,
  }: {
    readonly channelId: string;
    readonly state?: Delivery['state'] | undefined;
    readonly groupKey?: string | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<{ readonly items: Delivery[]; readonly nextCursor: string | null }> => {
  const [queuedMs = '', cursorId = ''] =
    cursor === undefined ? [] : decodeCursor('deliveries', cursor, [int64Pattern, nonEmptyTextPattern]);
  const havingConditions = [
    ...(cursor === undefined ? [] : ['(queued, id) < ({queued:Int64}, {id:String})']),
    ...(state === undefined ? [] : ['latest = {state:String}']),
    ...(groupKey === undefined ? [] : ['group_key = {group:String}']),
  ];
  const rows = await columns.query<Row>(
    `SELECT delivery_id AS id, toUnixTimestamp64Milli(min(queued_at)) AS queued,
      any(receiver) AS receiver, any(group_key) AS group_key, any(status) AS status, any(reason) AS reason,
      any(firing) AS firing, any(resolved) AS resolved, any(is_test) AS is_test, argMax(state, attempt) AS latest,
      groupUniqArray((attempt, toString(toUnixTimestamp64Milli(at)), state, status_code, answer, latency_ms)) AS steps
    FROM notification_deliveries WHERE tenant_id = {tenant:String} AND channel_id = {channel:String}
    GROUP BY delivery_id
    HAVING ${['1', ...havingConditions].join(' AND ')}
    ORDER BY queued DESC, id DESC LIMIT {limit:UInt32}`,
    {
      channel: channelId,
      limit: limit + 1,
      ...(cursor !== undefined && { queued: queuedMs, id: decodeText(cursorId) }),
      ...(state !== undefined && { state }),
      ...(groupKey !== undefined && { group: groupKey }),
    },
  );
  const items = rows.slice(0, limit).map(toDelivery);
  const last = items.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    items,
    nextCursor: hasMore ? encodeCursor('deliveries', [Date.parse(last.queuedAt), encodeText(last.id)]) : null,
  };
};

/** Result of one attempt to deliver an on-call page. */
export interface DeliveryAttempt {
  readonly id: string;
  readonly attempt: number;
  readonly state: Delivery['state'];
  readonly answer: string;
  readonly ms: string;
}

/** Lists the delivery attempts of a notification group in all channels, oldest first. */
export const readDeliveryAttempts = (
  { query }: Pick<TenantColumns, 'query'>,
  groupKey: string,
  { fromMs, toMs, limit }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<DeliveryAttempt[]> =>
  query<DeliveryAttempt>(
    `SELECT delivery_id AS id, attempt, any(state) AS state, any(answer) AS answer,
      toString(toUnixTimestamp64Milli(min(at))) AS ms
    FROM notification_deliveries WHERE tenant_id = {tenant:String} AND group_key = {group:String} AND attempt > 0
      AND queued_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND queued_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY delivery_id, attempt ORDER BY min(at), id LIMIT {limit:UInt32}`,
    { group: groupKey, from: String(fromMs), to: String(toMs), limit },
    { maxResultRows: limit },
  );
