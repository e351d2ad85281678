/** Lists events of agents in the order of time. */
import { decodeCursor, encodeCursor, int64Pattern } from '../../queries/cursor.ts';
import { createValidationError } from '../../queries/errors.ts';
import type { Range } from '../../queries/range.ts';
import { createCondition } from '../../queries/records.ts';
import { readRowsInOrder } from '../../queries/rows/in-order.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type AgentEventKind, agentEventKinds } from '../../schemas/agent-events.ts';
import { type AgentEventRow, type AgentEventView, agentEventSelection, toAgentEventView } from './event-views.ts';
import { type AgentFilter, createAgentScope, parseAgentRange, requireAgentRange } from './scope.ts';

export const eventOrders = ['oldest', 'newest'] as const;

export interface AgentEventsQuery extends AgentFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly kind?: string | undefined;
  readonly order: (typeof eventOrders)[number];
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const cursorKind = 'agent-events';
const idPattern = /^[0-9a-f]{32}$/;

export const isAgentEventKind = (name: string): name is AgentEventKind =>
  (agentEventKinds as readonly string[]).includes(name);

interface Position {
  readonly time: string;
  readonly id: string;
}

const resolvePage = (
  query: AgentEventsQuery,
  reader: TenantReader,
): { readonly range: Range; readonly after: Position | undefined } => {
  if (query.cursor === undefined) return { range: parseAgentRange(query, reader), after: undefined };
  const [from = '', to = '', order = '', time = '', id = ''] = decodeCursor(cursorKind, query.cursor, [
    int64Pattern,
    int64Pattern,
    /^(?:oldest|newest)$/,
    int64Pattern,
    idPattern,
  ]);
  if (order !== query.order) throw createValidationError('cursor', `is of a list with order=${order}`);
  const range = { from: BigInt(from), to: BigInt(to) };
  requireAgentRange(range, reader);
  return { range, after: { time, id } };
};

/** Returns a page of events. Pages neither skip nor repeat events. */
export const listAgentEvents = async (
  query: AgentEventsQuery,
  reader: TenantReader,
): Promise<{ readonly items: AgentEventView[]; readonly nextCursor: string | null; readonly range: Range }> => {
  const { range, after } = resolvePage(query, reader);
  const scope = createAgentScope(query, range);
  const kinds = query.kind?.split(',').filter(isAgentEventKind) ?? [];
  const isNewest = query.order === 'newest';
  const condition = [
    scope.condition,
    ...(kinds.length === 0 ? [] : ['kind IN {kinds:Array(String)}']),
    ...(after === undefined
      ? []
      : [
          `(toUnixTimestamp64Nano(agent_events.timestamp), cityHash64(agent_events.id)) ${isNewest ? '<' : '>'} ({afterTime:Int64}, cityHash64({afterId:String}))`,
        ]),
  ].join(' AND ');
  const start = after === undefined ? undefined : BigInt(after.time);
  const rows = await readRowsInOrder<AgentEventRow>(
    reader.columns,
    {
      signal: 'agents',
      range: { from: isNewest ? range.from : (start ?? range.from), to: isNewest ? (start ?? range.to) : range.to },
      order: query.order,
      limit: query.limit + 1,
    },
    agentEventSelection,
    createCondition(condition, {
      ...scope.parameters,
      ...(kinds.length > 0 && { kinds }),
      ...(after !== undefined && { afterTime: after.time, afterId: after.id }),
    }),
  );
  const items = rows.slice(0, query.limit).map(toAgentEventView);
  const last = rows.length > query.limit ? rows[query.limit - 1] : undefined;
  return {
    range,
    items,
    nextCursor:
      last === undefined
        ? null
        : encodeCursor(cursorKind, [range.from, range.to, query.order, last.time, items.at(-1)?.id ?? '']),
  };
};
