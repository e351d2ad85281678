import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { trackWork } from '../../runtime/current-work.ts';
import { type Metrics, noMetrics } from '../../schemas/ports/metrics.ts';
import { sourceAddresses } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import { transactFor } from '../changes.ts';
import { ApiError, apiErrorOf, FailedOperation } from '../errors.ts';
import { restrictionsOf } from '../page/restrictions.ts';
import { callerOf, refuseLowRights } from './admission.ts';
import { fixedPages, json, refuse, sendAnswer, sendDashboard, sendElsewhere } from './answers.ts';
import { compress } from './compression.ts';
import { matchesTag } from './if-none-match.ts';
import type { DocumentedGroup } from './openapi.ts';
import { isSent, type Operation, type RawInput } from './operation.ts';
import type { Ports } from './ports.ts';
import { makeRequestLimits } from './request-limits.ts';
import { bodyOf, factsOf, partsOf, queryOf } from './request-parts.ts';
import { makeResultCache, type ResultCache } from './result-cache.ts';
import { makeRouter, type Router } from './router.ts';
import type { Stream } from './stream.ts';
import { type StreamServer, Streams } from './stream-server.ts';
import { refuseOtherTenant, tenantNamedIn } from './tenant-rule.ts';
import { ClientLeftError, withinBudget } from './time-budget.ts';

export interface ApiServerOptions {
  readonly operations: readonly Operation[];
  readonly groups: readonly DocumentedGroup[];
  readonly streams?: readonly Stream[];
  readonly ports: Ports;
  readonly metrics?: Metrics;
  /** For tests: validates every answer against its declared schema. */
  readonly checkResponses?: boolean;
}

export interface ApiServer {
  callback(request: IncomingMessage, response: ServerResponse): void;
  readonly sockets: StreamServer;
  /** Number of requests in progress */
  inFlight(): number;
  /** Closes connections after their next answer. */
  drain(): void;
}

/** The status in the metrics of a request whose client disconnected, as in nginx */
const clientLeft = '499';

/** Paths of the API and of other handlers; all others belong to the dashboard. */
const reserved = new Set(['api', 'auth', 'otlp', 'ws', 'healthz', 'readyz', 'metrics']);

/** The error of an unknown path, in the format of its part of the API. */
const unknownPathError = (path: string, groups: ApiServerOptions['groups']): ApiError => {
  const error = new ApiError('NOT_FOUND', `there is nothing at ${path}`);
  const rest = path.replace(/^\/api\/tenants\/[^/]+\//, '/api/');
  const own = groups.find(({ elsewhere }) => elsewhere !== undefined && rest.startsWith(elsewhere.under))?.elsewhere;
  return own === undefined ? error : new FailedOperation(own.failure, error);
};

/** Creates the management API as a request listener. Every operation takes the same steps, in `answerOperation`. */
export const makeApiServer = (options: ApiServerOptions): ApiServer => {
  const { ports, metrics = noMetrics, streams = [] } = options;
  const router = routerOf(options.operations);
  const addressOf = sourceAddresses(ports.settings.TRUSTED_PROXIES);
  const fixed = fixedPages({ ...options, streams });
  const restrictions = restrictionsOf(options.operations);
  const limits = makeRequestLimits(ports.counters, ports.clock, ports.settings);
  const results = makeResultCache(ports.counters, ports.clock);
  let inFlight = 0;
  let draining = false;

  const answer = async (context: Koa.Context): Promise<void> => {
    const { path, method } = context;
    const lookupMethod = method === 'HEAD' ? 'GET' : method;
    const page = fixed[path];
    if (page !== undefined && lookupMethod === 'GET') return trackWork(`page ${path}`, () => page(context));
    if (page !== undefined) throw methodNotAllowed(method, ['GET']);
    if (!reserved.has(path.split('/', 2)[1] ?? ''))
      return sendDashboard(context, { found: lookupMethod === 'GET', restrictions });
    const match = router.find(lookupMethod, path);
    if (match === undefined) throw unknownPathError(path, options.groups);
    const { route, params, allowed } = match;
    if (route === undefined) throw methodNotAllowed(method, allowed);
    context.state['operation'] = route.operationId;
    await trackWork(`operation ${route.operationId}`, () => answerOperation(context, route, params));
  };

  const answerOperation = async (
    context: Koa.Context,
    operation: Operation,
    { tenantId, ...params }: Record<string, string>,
  ): Promise<void> => {
    const query = queryOf(context.request.querystring);
    const request = factsOf(context, addressOf, ports.settings.PUBLIC_URL);
    const caller = await callerOf(context.req, operation, request.address, { ports, limits });
    if (caller !== undefined) {
      refuseOtherTenant(caller.tenantId, tenantId);
      refuseOtherTenant(caller.tenantId, query['tenantId']);
      refuseLowRights(caller, operation);
    }
    const body = await bodyOf(context.req, operation, caller);
    if (caller !== undefined) refuseOtherTenant(caller.tenantId, tenantNamedIn(body));
    const change = transactFor(ports, { caller, actions: operation.audit, request });
    // Operations without a session declare it, and their handlers do not read the caller.
    const input = { caller: caller as Caller, params, ...partsOf(operation, query, body), request, change };
    const run = (): Promise<unknown> =>
      withinBudget({ response: context.res, operation, ports }, (signal, bounded) =>
        runToText(operation, { ...input, signal }, { ...options, ports: bounded }),
      ).catch(withOperationErrors(operation));
    const sent =
      operation.cache === undefined ? await run() : await cachedAnswer(context, results, operation, input, run);
    sendAnswer(context, operation, sent, ports);
    const location = context.state['location'] as string | undefined;
    if (location !== undefined) sendElsewhere(context, location);
    if (operation.versions === 'read' && matchesTag(context.get('if-none-match'), context.response.get('etag')))
      context.status = 304;
  };

  const app = new Koa();
  app.use(async (context) => {
    const started = performance.now();
    const requestId = assignRequestId(context);
    if (draining) context.set('Connection', 'close');
    inFlight++;
    context.res.once('close', () => inFlight--);
    let left = false;
    await answer(context).catch((error: unknown) => {
      left = error instanceof ClientLeftError;
      if (!left) refuse(context, apiErrorOf(error), requestId, ports);
    });
    if (!left) await compress(context);
    report(metrics, context, left ? clientLeft : String(context.status), started);
  });
  // Only errors of disconnected clients arrive here: every other error was answered above.
  app.on('error', () => {});
  const callback = app.callback();

  return {
    callback: (request, response) => void callback(request, response),
    sockets: new Streams({ ...options, streams, limits }),
    inFlight: () => inFlight,
    drain() {
      draining = true;
    },
  };
};

const report = (metrics: Metrics, { state }: Koa.Context, status: string, started: number): void => {
  const operation = (state['operation'] as string | undefined) ?? 'none';
  metrics.add('oiq_api_requests_total', 1, { operation, status });
  metrics.observe('oiq_api_duration_seconds', (performance.now() - started) / 1000, { operation });
};

/** Assigns an id to a request, and sets the headers of every answer. */
const assignRequestId = (context: Koa.Context): string => {
  const requestId = randomUUID();
  context.state['requestId'] = requestId;
  context.set('X-Request-Id', requestId);
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Cache-Control', 'no-store');
  return requestId;
};

const routerOf = (operations: readonly Operation[]): Router<Operation> => {
  const router = makeRouter<Operation>();
  for (const operation of operations) router.add(operation.method, operation.path, operation);
  return router;
};

/** Forwards errors in the format of the operation. */
const withOperationErrors =
  ({ failure }: Operation) =>
  (error: unknown): never => {
    if (failure === undefined || error instanceof ClientLeftError) throw error;
    throw new FailedOperation(failure(error), error);
  };

const runToText = async (
  operation: Operation,
  raw: RawInput,
  { ports, checkResponses }: ApiServerOptions,
): Promise<unknown> => {
  const result = await operation.run(raw, ports);
  if (operation.contentType !== json || (operation.contentTypes.length > 1 && isSent(result))) return result;
  if (checkResponses) operation.response.parse(result);
  const content = JSON.stringify(result ?? {});
  return operation.contentTypes.length > 1 ? { contentType: json, content } : content;
};

/** The cached answer, if it exists and the client did not send `Cache-Control: no-cache`. */
const cachedAnswer = async (
  context: Koa.Context,
  results: ResultCache,
  { operationId, cache }: Operation,
  { caller, params, query, body }: Omit<RawInput, 'signal'>,
  run: () => Promise<unknown>,
): Promise<string> => {
  const options = { ttlMs: cache?.ttlMs ?? 0, refresh: /\bno-cache\b/i.test(context.get('cache-control')) };
  const question = { operationId, caller, params, query, body };
  const answer = await results.answer(question, options, async () => String(await run()));
  context.set('X-Cache', answer.state);
  context.set('Age', String(answer.ageSeconds));
  return answer.text;
};

const methodNotAllowed = (method: string, allowed: readonly string[]): ApiError =>
  new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here; use ${allowed.join(', ')}`, {
    headers: { Allow: allowed.join(', ') },
  });
