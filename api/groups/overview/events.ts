import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  decodeJson,
  encodeCursor,
  encodeJson,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { type Range, rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { FeedEvent, feedKinds, parseEventsRange } from '../../../subjects/events/events.ts';
import { readFeedPage } from '../../../subjects/events/feed.ts';
import { createEventSources, Positions } from '../../event-feed/sources.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'events';
const knownKinds = new Set<string>(feedKinds);

export const listEvents = defineOperation({
  method: 'GET',
  path: '/api/events',
  operationId: 'listEvents',
  summary:
    'List events, the newest first: deployments recorded and detected, changes of configuration, custom events, events of alerts, anomalies, incidents and signals, and file changes that no baseline approves',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    from: rangeParameters.from.describe('Default: now-24h'),
    to: rangeParameters.to,
    limit: rangeParameters.limit,
    cursor: cursorParameter,
    ...projectScopeParameters,
    kinds: z
      .string()
      .max(256)
      .refine(
        (text) => text.split(',').every((value) => knownKinds.has(value)),
        `must be some of ${feedKinds.join(',')}`,
      )
      .optional()
      .describe(`Comma-separated, of ${feedKinds.join(', ')}; default: all`),
    service: z.string().min(1).max(512).optional().describe('Only events about this service'),
  }),
  response: z.strictObject({
    items: z.array(FeedEvent),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page?.range ?? parseEventsRange({ ...query, from: query.from ?? 'now-24h' }, reader);
    const kinds = query.kinds?.split(',') ?? [...feedKinds];
    const eventQuery = { ...query, range, kinds, hasExplicitKinds: query.kinds !== undefined };
    const partial: Incompleteness[] = [];
    const sources = createEventSources(eventQuery, { reader, ports, partial, tenantId: caller.tenantId });
    const { events, next } = await readFeedPage(sources, { limit: query.limit, after: page?.after ?? {} });
    return {
      items: [...events],
      nextCursor: next === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodeJson(next)]),
      partial,
    };
  },
});

const parseCursor = (cursor: string): { range: Range; after: z.output<typeof Positions> } => {
  const [from = '', to = '', positions = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: decodeJson(Positions, positions) };
};
