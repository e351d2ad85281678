import { Readable } from 'node:stream';
import type { Incompleteness } from '../../../queries/result.ts';
import { formatTime } from '../../../queries/time.ts';
import { TimeoutError } from '../../../runtime/timeout.ts';
import { UnavailableError } from '../../../schemas/errors.ts';
import type { DashboardFields } from '../../../subjects/dashboards/document.ts';
import type { EventsRequest } from '../../../subjects/dashboards/query/annotations.ts';
import {
  type DashboardLine,
  DashboardQuery,
  DashboardResponse,
  type QueryFault,
} from '../../../subjects/dashboards/query/dashboard-query.ts';
import {
  type DashboardContext,
  runDashboardQuery,
  streamDashboard,
} from '../../../subjects/dashboards/query/run-query.ts';
import { parseEventsRange } from '../../../subjects/events/events.ts';
import { readFeedPage } from '../../../subjects/events/feed.ts';
import type { Caller } from '../../callers/caller.ts';
import { jsonLinesType } from '../../csv.ts';
import { toApiError } from '../../errors.ts';
import { createEventSources } from '../../event-feed/sources.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { parseSavedDashboard, readParsedQueries } from './dashboard.ts';
import { findDashboard } from './read.ts';

/**
 * Less than the time limit of every operation: panels that are done by then are returned, and the others report a
 * timeout.
 */
const budgetMs = 40_000;

/** Returns a signal that aborts with the request, or when its time budget is used up. */
const withTimeBudget = (signal: AbortSignal): AbortSignal => {
  const budgetController = new AbortController();
  const reason = new UnavailableError(
    `the ${budgetMs / 1000} seconds of the request ended before this query was answered: request fewer panels or a shorter range`,
  );
  setTimeout(() => budgetController.abort(reason), budgetMs).unref();
  return AbortSignal.any([signal, budgetController.signal]);
};

const toFault = (error: unknown, { log }: Ports): Pick<QueryFault, 'code' | 'message'> => {
  if (error instanceof TimeoutError)
    return { code: 'UNAVAILABLE', message: 'the query was not answered in time because of high load: try again later' };
  const { code, message } = toApiError(error);
  if (code === 'INTERNAL') log.error({ error }, 'a panel of a dashboard failed');
  return { code, message };
};

const readEvents = async (query: EventsRequest, caller: Caller, ports: Ports) => {
  const reader = createQueryReader(caller, ports);
  const partial: Incompleteness[] = [];
  const range = parseEventsRange({ from: formatTime(query.range.from), to: formatTime(query.range.to) }, reader);
  const sources = createEventSources({ ...query, range }, { reader, ports, partial, tenantId: caller.tenantId });
  const { events } = await readFeedPage(sources, { limit: query.limit, after: {} });
  return { events, partial };
};

/** Returns the context of a dashboard query for a caller. */
export const createDashboardContext = async (
  document: DashboardFields,
  caller: Caller,
  signal: AbortSignal,
  ports: Ports,
): Promise<DashboardContext> => ({
  reader: createQueryReader(caller, ports),
  signal: withTimeBudget(signal),
  saved: await readParsedQueries(ports.documents.forTenant(caller.tenantId), document, caller),
  names: { __dashboard: document.name, __org: caller.tenantId, __user: caller.actor.id },
  getFault: (error) => toFault(error, ports),
  events: (query) => readEvents(query, caller, ports),
});

async function* toJsonLines(
  first: IteratorResult<DashboardLine>,
  rest: AsyncGenerator<DashboardLine>,
): AsyncGenerator<string> {
  for (let line = first; line.done !== true; line = await rest.next()) yield `${JSON.stringify(line.value)}\n`;
}

export const queryDashboard = defineOperation({
  method: 'POST',
  path: '/api/dashboards/{id}/query',
  operationId: 'queryDashboard',
  summary:
    'Query the panels of a dashboard for a range and variables; with Accept: application/x-ndjson each panel is a line, sent as soon as it is ready',
  role: 'viewer',
  auditExemption: 'read-only',
  maxBodyBytes: 2 * 1024 * 1024,
  contentType: ['application/json; charset=utf-8', jsonLinesType],
  params: idParameter,
  body: DashboardQuery,
  response: DashboardResponse,
  async handler({ caller, params, body, request, signal }, ports) {
    const dashboard = await findDashboard(params.id, caller, ports);
    const document = body.draft ?? parseSavedDashboard(dashboard).document;
    const context = await createDashboardContext(document, caller, signal, ports);
    if (!/\bapplication\/x-ndjson\b/i.test(request.header('accept'))) return runDashboardQuery(document, body, context);
    const lines = streamDashboard(document, body, context);
    // The first line is produced before the response begins, so that an invalid query is an error and not a broken
    // stream.
    const first = await lines.next();
    return { contentType: jsonLinesType, content: Readable.from(toJsonLines(first, lines)) };
  },
});
