import { z } from 'zod';
import type { Columns } from '../../schemas/ports/columns.ts';
import { getDeadLetterAction } from './actions.ts';

/**
 * Filter of dead letters. Omitted fields do not restrict. Without a tenant it matches those of all tenants, for the
 * operator.
 */
export interface DeadLetterFilter {
  readonly tenantId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** License key of the sender. */
  readonly keyId?: string | undefined;
  readonly signal?: string | undefined;
  readonly reason?: string | undefined;
  readonly kind?: 'refused' | 'unprocessable' | undefined;
  readonly origin?: string | undefined;
  /** Reception time in epoch milliseconds, inclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly state?: DeadLetterState | undefined;
}

const states = ['open', 'replayed', 'discarded'] as const;
export type DeadLetterState = (typeof states)[number];

/** Schema of a dead letter in responses. */
export const DeadLetterView = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  keyId: z.string(),
  signal: z.string(),
  origin: z.string(),
  kind: z.string().describe('`refused` (by a receiver) or `unprocessable` (by a consumer)'),
  reason: z.string(),
  message: z.string(),
  action: z.string().describe('What to do about it, and whether a replay helps'),
  position: z.number().nullable().describe('Byte position of the error in the decompressed body'),
  receivedAt: z.iso.datetime(),
  source: z.string(),
  size: z.number(),
  cut: z.boolean(),
  state: z.enum(states),
  markedAt: z.iso.datetime().nullable(),
  actor: z.string().nullable(),
});

/** A dead letter in lists. */
export interface DeadLetter extends Readonly<z.output<typeof DeadLetterView>> {
  readonly tenantId: string;
  /** Position of its chunks on the dead-letter topic. */
  readonly place: { readonly partition: number; readonly offset: number; readonly chunks: number };
}

/** A position in reception order. */
export interface DeadLetterCursor {
  readonly receivedAtMs: number;
  readonly id: string;
}

interface Row extends Omit<DeadLetter, 'action' | 'position' | 'receivedAt' | 'size' | 'state' | 'markedAt' | 'place'> {
  readonly position: string | null;
  readonly received: string;
  readonly size: string;
  readonly chunks: number;
  readonly partition: number;
  readonly offset: string;
  readonly outcome: string;
  readonly marked: string;
}

/** Reads with the tenant's filters if the filter names a tenant, otherwise as the platform. */
const selectColumns = (columns: Columns, tenantId: string | undefined): Pick<Columns, 'query'> =>
  tenantId === undefined ? columns : columns.forTenant(tenantId);

const buildConditions = (filter: DeadLetterFilter): { where: string; parameters: Record<string, string> } => {
  const conditions = [filter.tenantId === undefined ? '1' : 'tenant_id = {tenant:String}'];
  const parameters: Record<string, string> = {};
  const addCondition = (name: string, value: string | undefined, condition: string): void => {
    if (value === undefined) return;
    conditions.push(condition);
    parameters[name] = value;
  };
  addCondition('key', filter.keyId, 'key_id = {key:String}');
  addCondition('signal', filter.signal, 'signal = {signal:String}');
  addCondition('reason', filter.reason, 'reason = {reason:String}');
  addCondition('kind', filter.kind, 'kind = {kind:String}');
  addCondition('origin', filter.origin, 'origin = {origin:String}');
  addCondition('from', filter.fromMs?.toFixed(0), "received_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')");
  addCondition('to', filter.toMs?.toFixed(0), "received_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')");
  return { where: conditions.join(' AND '), parameters };
};

/**
 * Returns matching dead letters in reception order. A consumer may have published one twice with the same ID; only one
 * row is returned then.
 */
export const readDeadLetters = async (
  columns: Columns,
  filter: DeadLetterFilter,
  page: {
    readonly limit: number;
    readonly after?: DeadLetterCursor | undefined;
    readonly newestFirst: boolean;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<DeadLetter[]> => {
  const { where, parameters } = buildConditions(filter);
  const tenantCondition = filter.tenantId === undefined ? '1' : 'tenant_id = {tenant:String}';
  const direction = page.newestFirst ? 'DESC' : 'ASC';
  const values: Record<string, string | readonly string[]> = { ...parameters };
  let stateCondition = '1';
  // Marks are sorted by ID, so those of specific dead letters are looked up directly.
  const idCondition = filter.ids === undefined ? '' : ' AND id IN {ids:Array(String)}';
  let deadLetterCondition = where + idCondition;
  if (filter.ids !== undefined) values['ids'] = filter.ids;
  if (page.after !== undefined) {
    deadLetterCondition += ` AND (received_at, id) ${page.newestFirst ? '<' : '>'} (fromUnixTimestamp64Milli({afterTime:Int64}, 'UTC'), {afterId:String})`;
    values['afterTime'] = String(page.after.receivedAtMs);
    values['afterId'] = page.after.id;
  }
  if (filter.state !== undefined) {
    stateCondition = 'outcome = {outcome:String}';
    values['outcome'] = filter.state === 'open' ? '' : filter.state;
  }
  const rows = await selectColumns(columns, filter.tenantId).query<Row>(
    `SELECT tenant AS tenantId, id, project_id AS projectId, key_id AS keyId, signal, origin, kind, reason, message, toString(position) AS position, toString(toUnixTimestamp64Milli(received_at)) AS received,
      source, toString(size) AS size, cut, chunks, partition, toString(offset) AS offset, outcome, toString(toUnixTimestamp64Milli(marked_at)) AS marked, actor
    FROM (SELECT *, tenant_id AS tenant FROM dead_letters WHERE ${deadLetterCondition} ORDER BY received_at ${direction}, id ${direction} LIMIT 1 BY tenant_id, id) AS letters
    LEFT ANY JOIN (SELECT tenant_id AS mark_tenant, id AS mark_id, outcome, marked_at, actor FROM dead_letter_marks WHERE ${tenantCondition}${idCondition}) AS marks
      ON letters.tenant = marks.mark_tenant AND letters.id = marks.mark_id
    WHERE ${stateCondition} ORDER BY letters.received_at ${direction}, id ${direction} LIMIT ${page.limit}`,
    values,
    page.signal && { signal: page.signal },
  );
  return rows.map(toDeadLetter);
};

const toDeadLetter = ({ received, outcome, marked, partition, offset, chunks, ...row }: Row): DeadLetter => ({
  ...row,
  action: getDeadLetterAction(row.reason, row.kind),
  position: row.position === null ? null : Number(row.position),
  receivedAt: new Date(Number(received)).toISOString(),
  size: Number(row.size),
  state: outcome === 'replayed' || outcome === 'discarded' ? outcome : 'open',
  markedAt: outcome === '' ? null : new Date(Number(marked)).toISOString(),
  actor: outcome === '' ? null : row.actor,
  place: { partition, offset: Number(offset), chunks },
});

/** Returns the number of matching dead letters. */
export const countDeadLetters = async (columns: Columns, filter: DeadLetterFilter): Promise<number> => {
  const { where, parameters } = buildConditions(filter);
  const markCondition = filter.tenantId === undefined ? '1' : 'tenant_id = {tenant:String}';
  const ids = filter.ids === undefined ? '' : ' AND id IN {ids:Array(String)}';
  const isMarked = `(tenant_id, id) IN (SELECT tenant_id, id FROM dead_letter_marks WHERE ${markCondition}${
    filter.state === undefined || filter.state === 'open' ? '' : ' AND outcome = {outcome:String}'
  })`;
  const state =
    filter.state === undefined ? '' : filter.state === 'open' ? ` AND NOT (${isMarked})` : ` AND ${isMarked}`;
  const [row] = await selectColumns(columns, filter.tenantId).query<{ total: string }>(
    `SELECT toString(uniqExact(tenant_id, id)) AS total FROM dead_letters WHERE ${where}${ids}${state}`,
    { ...parameters, outcome: filter.state ?? '', ...(filter.ids === undefined ? {} : { ids: filter.ids }) },
  );
  return Number(row?.total ?? 0);
};
