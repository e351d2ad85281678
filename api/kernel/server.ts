import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { trackWork } from '../../runtime/current-work.ts';
import { type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { createSourceResolver } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import { createTransact, type Transact } from '../changes.ts';
import { ApiError, ForeignApiError, toApiError } from '../errors.ts';
import { listRestrictions } from '../page/restrictions.ts';
import { authenticateWithinLimits, authorizeCaller } from './admission.ts';
import { compressResponse } from './compression.ts';
import { matchesTag } from './if-none-match.ts';
import { type JsonText, stringifyInSlices } from './json-text.ts';
import type { DocumentedGroup } from './openapi.ts';
import { isContentResponse, type Operation, type RawInput } from './operation.ts';
import type { Ports } from './ports.ts';
import { createRequestLimits } from './request-limits.ts';
import { createRequestFacts, parseQueryText, readBody, splitQueryAndBody } from './request-parts.ts';
import { createFixedPages, jsonType, sendDashboard, sendError, sendRedirect, sendResult } from './responses.ts';
import { createResultCache, type ResultCache } from './result-cache.ts';
import { createRouter, type Router } from './router.ts';
import type { Stream } from './stream.ts';
import { type StreamServer, Streams } from './stream-server.ts';
import { getBodyTenant, requireSameTenant } from './tenant-rule.ts';
import { ClientDisconnectedError, runWithinBudget } from './time-budget.ts';

export interface ApiServerOptions {
  readonly operations: readonly Operation[];
  readonly groups: readonly DocumentedGroup[];
  readonly streams?: readonly Stream[];
  readonly ports: Ports;
  readonly metrics?: Metrics;
  /** For tests: validates every response against its declared schema. */
  readonly shouldCheckResponses?: boolean;
}

export interface ApiServer {
  callback(request: IncomingMessage, response: ServerResponse): void;
  readonly sockets: StreamServer;
  /** Number of requests in progress */
  getInFlightCount(): number;
  /** Closes connections after their next response. */
  drain(): void;
}

/** The status in the metrics of a request whose client disconnected, as in nginx */
const clientClosedStatus = '499';

/** First path segments of the API and of other handlers; all other paths belong to the dashboard. */
const reservedSegments = new Set(['api', 'auth', 'otlp', 'rum', 'ws', 'mcp', 'healthz', 'readyz', 'metrics']);

/** Returns the error of an unknown path, in the format of the part of the API to which the path belongs. */
const createUnknownPathError = (path: string, groups: ApiServerOptions['groups']): ApiError => {
  const error = new ApiError('NOT_FOUND', `the path ${path} does not exist`);
  const rest = path.replace(/^\/api\/tenants\/[^/]+\//, '/api/');
  const unknownPathErrors = groups.find(
    ({ elsewhere }) => elsewhere !== undefined && rest.startsWith(elsewhere.under),
  )?.elsewhere;
  return unknownPathErrors === undefined ? error : new ForeignApiError(unknownPathErrors.failure, error);
};

/** Creates the management API as a request listener. `answerOperation` processes the requests of all operations. */
export const createApiServer = (options: ApiServerOptions): ApiServer => {
  const { ports, metrics = silentMetrics, streams = [] } = options;
  const router = createOperationRouter(options.operations);
  const resolveAddress = createSourceResolver(ports.settings.TRUSTED_PROXIES);
  const fixedPageHandlers = createFixedPages({ ...options, streams });
  const restrictions = listRestrictions(options.operations);
  const limits = createRequestLimits(ports.counters, ports.clock, ports.settings);
  const resultCache = createResultCache<JsonText>(ports.counters, ports.clock);
  let inFlightCount = 0;
  let isDraining = false;

  const routeRequest = async (context: Koa.Context): Promise<void> => {
    const { path, method } = context;
    const lookupMethod = method === 'HEAD' ? 'GET' : method;
    const page = fixedPageHandlers[path];
    if (page !== undefined && lookupMethod === 'GET') return trackWork(`page ${path}`, () => page(context));
    if (page !== undefined) throw createMethodNotAllowedError(method, ['GET']);
    if (!reservedSegments.has(path.split('/', 2)[1] ?? ''))
      return sendDashboard(context, { isGet: lookupMethod === 'GET', restrictions });
    const match = router.find(lookupMethod, path);
    if (match === undefined) throw createUnknownPathError(path, options.groups);
    const { route, params, allowed } = match;
    if (route === undefined) throw createMethodNotAllowedError(method, allowed);
    context.state['operation'] = route.operationId;
    await trackWork(`operation ${route.operationId}`, () =>
      handleOperation(context, route, params).catch(createErrorForwarder(route)),
    );
  };

  const handleOperation = async (
    context: Koa.Context,
    operation: Operation,
    { tenantId, ...params }: Record<string, string>,
  ): Promise<void> => {
    const query = parseQueryText(context.request.querystring);
    const request = createRequestFacts(context, resolveAddress, ports.settings.PUBLIC_URL);
    let caller = await authenticateWithinLimits(context.req, operation, request.address, { ports, limits });
    if (caller !== undefined) {
      requireSameTenant(caller.tenantId, tenantId);
      requireSameTenant(caller.tenantId, query['tenantId']);
      caller = authorizeCaller(caller, operation);
    }
    const body = await readBody(context.req, operation, caller);
    if (caller !== undefined) requireSameTenant(caller.tenantId, getBodyTenant(body));
    const transact = createTransact(ports, { caller, actions: operation.audit, request });
    // The caller is undefined only for operations without a session, whose handlers do not read it.
    const input = { caller: caller as Caller, params, ...splitQueryAndBody(operation, query, body), request };
    const run = (): Promise<unknown> =>
      runWithinBudget({ response: context.res, operation, ports }, (signal, limitedPorts, reportBegin) => {
        const change: Transact = async (work) => {
          reportBegin();
          return transact(work);
        };
        return runToText(operation, { ...input, change, signal }, { ...options, ports: limitedPorts });
      });
    const result =
      operation.cache === undefined ? await run() : await runWithCache(context, resultCache, operation, input, run);
    sendResult(context, operation, result, ports);
    const location = context.state['location'] as string | undefined;
    if (location !== undefined) sendRedirect(context, location);
    if (operation.versions === 'read' && matchesTag(context.get('if-none-match'), context.response.get('etag')))
      context.status = 304;
  };

  const app = new Koa();
  app.use(async (context) => {
    const started = performance.now();
    const requestId = assignRequestId(context);
    if (isDraining) context.set('Connection', 'close');
    inFlightCount++;
    context.res.once('close', () => inFlightCount--);
    let hasClientLeft = false;
    await routeRequest(context).catch((error: unknown) => {
      hasClientLeft = error instanceof ClientDisconnectedError;
      if (!hasClientLeft) sendError(context, toApiError(error), requestId, ports);
    });
    const work = `response of ${(context.state['operation'] as string | undefined) ?? 'a page'}`;
    if (!hasClientLeft) await trackWork(work, () => compressResponse(context));
    reportMetrics(metrics, context, hasClientLeft ? clientClosedStatus : String(context.status), started);
  });
  // Only errors of disconnected clients arrive here: all others were already sent as responses.
  app.on('error', () => {});
  const callback = app.callback();

  return {
    callback: (request, response) => void callback(request, response),
    sockets: new Streams({ ...options, streams, limits }),
    getInFlightCount: () => inFlightCount,
    drain() {
      isDraining = true;
    },
  };
};

const reportMetrics = (metrics: Metrics, { state }: Koa.Context, status: string, started: number): void => {
  const operation = (state['operation'] as string | undefined) ?? 'none';
  metrics.add('oiq_api_requests_total', 1, { operation, status });
  metrics.observe('oiq_api_duration_seconds', (performance.now() - started) / 1000, { operation });
};

/** Assigns an id to a request, and sets the headers of every response. */
const assignRequestId = (context: Koa.Context): string => {
  const requestId = randomUUID();
  context.state['requestId'] = requestId;
  context.set('X-Request-Id', requestId);
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Cache-Control', 'no-store');
  return requestId;
};

const createOperationRouter = (operations: readonly Operation[]): Router<Operation> => {
  const router = createRouter<Operation>();
  for (const operation of operations) router.add(operation.method, operation.path, operation);
  return router;
};

/** Forwards errors in the format of the operation. */
const createErrorForwarder =
  ({ failure }: Operation) =>
  (error: unknown): never => {
    if (failure === undefined || error instanceof ClientDisconnectedError) throw error;
    throw new ForeignApiError(failure(error), error);
  };

const runToText = async (
  operation: Operation,
  input: RawInput,
  { ports, shouldCheckResponses }: ApiServerOptions,
): Promise<unknown> => {
  const result = await operation.run(input, ports);
  if (operation.contentType !== jsonType || (operation.contentTypes.length > 1 && isContentResponse(result)))
    return result;
  if (shouldCheckResponses) operation.response.parse(result);
  const content = await stringifyInSlices(result ?? {});
  return operation.contentTypes.length > 1 ? { contentType: jsonType, content } : content;
};

/** Returns the cached result, if it exists and the client did not send `Cache-Control: no-cache`. */
const runWithCache = async (
  context: Koa.Context,
  results: ResultCache<JsonText>,
  { operationId, cache }: Operation,
  { caller, params, query, body }: Omit<RawInput, 'signal' | 'change'>,
  run: () => Promise<unknown>,
): Promise<JsonText> => {
  const options = { ttlMs: cache?.ttlMs ?? 0, refresh: /\bno-cache\b/i.test(context.get('cache-control')) };
  const cacheRequest = { operationId, caller, params, query, body };
  const cachedResult = await results.getOrCompute(cacheRequest, options, async () => (await run()) as JsonText);
  context.set('X-Cache', cachedResult.state);
  context.set('Age', String(cachedResult.ageSeconds));
  return cachedResult.text;
};

const createMethodNotAllowedError = (method: string, allowed: readonly string[]): ApiError =>
  new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here; use ${allowed.join(', ')}`, {
    headers: { Allow: allowed.join(', ') },
  });
