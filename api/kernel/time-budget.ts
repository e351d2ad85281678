/** Ends every request: with its response, when its client disconnects, or when its time limit is exceeded. */
import type { ServerResponse } from 'node:http';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Collection, Documents } from '../../schemas/ports/documents.ts';
import { ApiError } from '../errors.ts';
import type { Operation } from './operation.ts';
import type { Ports } from './ports.ts';

/** A request that has read for this long without yielding yields to other requests. */
const timeSliceMs = 5;

/** The client closed the connection. */
export class ClientDisconnectedError extends ApiError {
  constructor() {
    super('UNAVAILABLE', 'the client disconnected before the response');
    this.name = 'ClientLeftError';
  }
}

const createTimeoutError = ({ method, budgetMs }: Operation, hasBegun: boolean): ApiError => {
  const message = `this took longer than ${budgetMs / 1000} seconds`;
  if (hasBegun) return new ApiError('UNAVAILABLE', `${message}: check whether it took effect before you try again`);
  return new ApiError(
    'UNAVAILABLE',
    method === 'GET'
      ? `${message}: request less data, or try again later`
      : `${message}, and nothing was changed: send less at once, or try again later`,
  );
};

/** Dependencies through which a request has effects, in addition to its documents. */
const effectNames = [
  'bus',
  'mailer',
  'mail',
  'outbound',
  'evidence',
  'deadLetters',
  'replayJobs',
  'events',
  'alertTransitions',
  'syntheticRuns',
  'call',
] as const satisfies readonly (keyof Ports)[];

/**
 * Runs an operation with a signal that aborts when the client disconnects or the time is over. Reads through the ports
 * reject from then on. A change in progress is committed or rolled back completely. For a stream the time limit ends
 * with the first byte; after that its reads end with the client. The error of a timeout states whether anything may have
 * taken effect: `work` calls `reportBegin` before changes that do not go through the ports. Once the signal has aborted,
 * `reportBegin` throws if nothing has begun, and the ports have no effect either.
 */
export const runWithinBudget = async <Result>(
  { response, operation, ports }: { response: ServerResponse; operation: Operation; ports: Ports },
  work: (signal: AbortSignal, ports: Ports, reportBegin: () => void) => Promise<Result>,
): Promise<Result> => {
  const abortController = new AbortController();
  const { signal } = abortController;
  const abortPromise = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  let hasBegun = false;
  const reportBegin = (): void => {
    // The response may state that nothing was changed. What has already begun continues, as its response states.
    if (!hasBegun) signal.throwIfAborted();
    hasBegun = operation.method !== 'GET';
  };
  const timer = setTimeout(() => abortController.abort(createTimeoutError(operation, hasBegun)), operation.budgetMs);
  const abortOnDisconnect = (): void => {
    if (!response.writableFinished) abortController.abort(new ClientDisconnectedError());
  };
  if (response.closed) abortOnDisconnect();
  else response.once('close', abortOnDisconnect);
  try {
    return await Promise.race([work(signal, limitPorts(ports, signal, reportBegin), reportBegin), abortPromise]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * `reportBegin` is called before anything that may have an effect: a write, or a use of another dependency. If it
 * throws, there is no effect.
 */
const limitPorts = (ports: Ports, signal: AbortSignal, reportBegin: () => void): Ports => {
  const limitedPorts: Ports = {
    ...ports,
    documents: limitDocuments(ports.documents, signal, reportBegin),
    columns: limitColumns(ports.columns, signal),
  };
  for (const name of effectNames) {
    const get = (): unknown => {
      reportBegin();
      return ports[name];
    };
    Object.defineProperty(limitedPorts, name, { get, enumerable: true });
  }
  return limitedPorts;
};

const rejectGlobalAccess = (): never => {
  throw new Error('a request can only use the documents and rows of one organization, through `forTenant`');
};

const limitColumns = (columns: Columns, signal: AbortSignal): Columns => ({
  forTenant(tenantId) {
    const reader = columns.forTenant(tenantId);
    return {
      ...reader,
      query: (sql, parameters, limits) => reader.query(sql, parameters, { signal, ...limits }),
      queryNative: (sql, parameters, limits) => reader.queryNative(sql, parameters, { signal, ...limits }),
    };
  },
  check: () => columns.check(),
  insert: rejectGlobalAccess,
  recordWatermark: rejectGlobalAccess,
  query: rejectGlobalAccess,
  execute: rejectGlobalAccess,
  listServers: rejectGlobalAccess,
  handleTablesChanged: rejectGlobalAccess,
  close: rejectGlobalAccess,
});

const limitDocuments = (documents: Documents, signal: AbortSignal, reportBegin: () => void): Documents => {
  let lastYieldMs = performance.now();
  // The embedded store responds synchronously: a handler that reads in a loop would block all other requests.
  const beforeRead = async (): Promise<void> => {
    signal.throwIfAborted();
    if (performance.now() - lastYieldMs < timeSliceMs) return;
    await yieldToEventLoop();
    lastYieldMs = performance.now();
    signal.throwIfAborted();
  };
  const beginWrite = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    reportBegin();
    return write();
  };
  const limitCollection = <Fields extends object>(stored: Collection<Fields>): Collection<Fields> => ({
    insert: (fields) => beginWrite(() => stored.insert(fields)),
    replace: (id, fields, version) => beginWrite(() => stored.replace(id, fields, version)),
    update: (id, changes, version) => beginWrite(() => stored.update(id, changes, version)),
    delete: (id, version) => beginWrite(() => stored.delete(id, version)),
    find: (id) => beforeRead().then(() => stored.find(id)),
    list: (options) => beforeRead().then(() => stored.list(options)),
    count: (filter) => beforeRead().then(() => stored.count(filter)),
    countValues: (fields, options) => beforeRead().then(() => stored.countValues(fields, options)),
  });
  return {
    forTenant(tenantId) {
      const tenantDocuments = documents.forTenant(tenantId);
      return { tenantId, collection: (definition) => limitCollection(tenantDocuments.collection(definition)) };
    },
    transaction: (work) => beginWrite(() => documents.transaction(work)),
    check: () => documents.check(),
    findInAllTenants: rejectGlobalAccess,
    follow: rejectGlobalAccess,
    ensureCollections: rejectGlobalAccess,
    close: rejectGlobalAccess,
  };
};
