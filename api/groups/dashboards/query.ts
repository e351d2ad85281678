import { Readable } from 'node:stream';
import type { Incompleteness } from '../../../queries/result.ts';
import { formatTime } from '../../../queries/time.ts';
import { TimeoutError } from '../../../runtime/timeout.ts';
import { UnavailableError } from '../../../schemas/errors.ts';
import type { DashboardFields } from '../../../subjects/dashboards/document.ts';
import type { EventsRequest } from '../../../subjects/dashboards/query/annotations.ts';
import {
  DashboardAnswer,
  type DashboardLine,
  DashboardQuestion,
  type Fault,
} from '../../../subjects/dashboards/query/question.ts';
import {
  type DashboardContext,
  dashboardAnswer,
  dashboardLines,
} from '../../../subjects/dashboards/query/run-query.ts';
import { eventsRange } from '../../../subjects/events/events.ts';
import { feedPage } from '../../../subjects/events/feed.ts';
import type { Caller } from '../../callers/caller.ts';
import { jsonLinesType } from '../../csv.ts';
import { apiErrorOf } from '../../errors.ts';
import { eventSources } from '../../event-feed/sources.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { parseSavedDashboard, understoodQueriesIn } from './dashboard.ts';
import { foundDashboard } from './read.ts';

/**
 * Less than the time limit of every operation: panels that are done by then are returned, and the others report a
 * timeout.
 */
const budgetMs = 40_000;

/** Aborts with the request, or when its time is over */
const endingWith = (signal: AbortSignal): AbortSignal => {
  const over = new AbortController();
  const reason = new UnavailableError(
    `the ${budgetMs / 1000} seconds of the request ended before this query was answered: request fewer panels or a shorter range`,
  );
  setTimeout(() => over.abort(reason), budgetMs).unref();
  return AbortSignal.any([signal, over.signal]);
};

const faultOf = (error: unknown, { log }: Ports): Pick<Fault, 'code' | 'message'> => {
  if (error instanceof TimeoutError)
    return { code: 'UNAVAILABLE', message: 'the query was not answered in time because of high load: try again later' };
  const { code, message } = apiErrorOf(error);
  if (code === 'INTERNAL') log.error({ error }, 'a panel of a dashboard failed');
  return { code, message };
};

const eventsFor = async (query: EventsRequest, caller: Caller, ports: Ports) => {
  const reading = readingOf(caller, ports);
  const partial: Incompleteness[] = [];
  const range = eventsRange({ from: formatTime(query.range.from), to: formatTime(query.range.to) }, reading);
  const sources = eventSources({ ...query, range }, { reading, ports, partial, tenantId: caller.tenantId });
  const { events } = await feedPage(sources, { limit: query.limit, after: {} });
  return { events, partial };
};

/** Context of a dashboard query for a caller. */
export const dashboardContextOf = async (
  document: DashboardFields,
  caller: Caller,
  signal: AbortSignal,
  ports: Ports,
): Promise<DashboardContext> => ({
  reading: readingOf(caller, ports),
  signal: endingWith(signal),
  saved: await understoodQueriesIn(ports.documents.of(caller.tenantId), document, caller),
  names: { __dashboard: document.name, __org: caller.tenantId, __user: caller.actor.id },
  faultOf: (error) => faultOf(error, ports),
  events: (query) => eventsFor(query, caller, ports),
});

async function* inLines(
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
  unaudited: 'It reads telemetry and changes nothing.',
  maxBodyBytes: 2 * 1024 * 1024,
  contentType: ['application/json; charset=utf-8', jsonLinesType],
  params: idParameter,
  body: DashboardQuestion,
  response: DashboardAnswer,
  async handler({ caller, params, body, request, signal }, ports) {
    const found = await foundDashboard(params.id, caller, ports);
    const document = body.draft ?? parseSavedDashboard(found).document;
    const context = await dashboardContextOf(document, caller, signal, ports);
    if (!/\bapplication\/x-ndjson\b/i.test(request.header('accept'))) return dashboardAnswer(document, body, context);
    const lines = dashboardLines(document, body, context);
    // The first line is produced before the answer begins, so that an invalid query is an error and not a broken
    // stream.
    const first = await lines.next();
    return { contentType: jsonLinesType, content: Readable.from(inLines(first, lines)) };
  },
});
