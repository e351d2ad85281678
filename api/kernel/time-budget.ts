/** Ends every request: with its answer, when its client disconnects, or when its time is over. */
import type { ServerResponse } from 'node:http';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Collection, Documents } from '../../schemas/ports/documents.ts';
import { ApiError } from '../errors.ts';
import type { Operation } from './operation.ts';
import type { Ports } from './ports.ts';

/** A request that reads for this long without a pause yields to other requests. */
const sliceMs = 5;

/** The client closed the connection. */
export class ClientLeftError extends ApiError {
  constructor() {
    super('UNAVAILABLE', 'the client disconnected before the response');
    this.name = 'ClientLeftError';
  }
}

const overBudget = ({ method, budgetMs }: Operation): ApiError => {
  const what = `this took longer than ${budgetMs / 1000} seconds`;
  return new ApiError(
    'UNAVAILABLE',
    method === 'GET'
      ? `${what}: request less data, or try again later`
      : `${what}: check whether it took effect before you try again`,
  );
};

/**
 * Runs an operation with a signal that aborts when the client disconnects or the time is over. Reads through the ports
 * reject from then on. A change in progress is committed or rolled back completely. For a stream the time limit ends
 * with the first byte; after that its reads end with the client.
 */
export const withinBudget = async <Result>(
  { response, operation, ports }: { response: ServerResponse; operation: Operation; ports: Ports },
  work: (signal: AbortSignal, ports: Ports) => Promise<Result>,
): Promise<Result> => {
  const ending = new AbortController();
  const { signal } = ending;
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const time = setTimeout(() => ending.abort(overBudget(operation)), operation.budgetMs);
  const left = (): void => {
    if (!response.writableFinished) ending.abort(new ClientLeftError());
  };
  if (response.closed) left();
  else response.once('close', left);
  try {
    return await Promise.race([work(signal, portsWithin(ports, signal)), aborted]);
  } finally {
    clearTimeout(time);
  }
};

const portsWithin = (ports: Ports, signal: AbortSignal): Ports => ({
  ...ports,
  documents: documentsWithin(ports.documents, signal),
  columns: columnsWithin(ports.columns, signal),
});

const notForRequests = (): never => {
  throw new Error('a request reaches one organization’s documents and rows, through `of`');
};

const columnsWithin = (columns: Columns, signal: AbortSignal): Columns => ({
  of(tenantId) {
    const reader = columns.of(tenantId);
    return {
      ...reader,
      query: (sql, parameters, limits) => reader.query(sql, parameters, { signal, ...limits }),
      native: (sql, parameters, limits) => reader.native(sql, parameters, { signal, ...limits }),
    };
  },
  check: () => columns.check(),
  insert: notForRequests,
  recordWatermark: notForRequests,
  query: notForRequests,
  execute: notForRequests,
  each: notForRequests,
  tablesChanged: notForRequests,
  close: notForRequests,
});

const documentsWithin = (documents: Documents, signal: AbortSignal): Documents => {
  let paused = performance.now();
  // The embedded store answers synchronously: a handler that reads in a loop would block all other requests.
  const beforeRead = async (): Promise<void> => {
    signal.throwIfAborted();
    if (performance.now() - paused < sliceMs) return;
    await yieldToEventLoop();
    paused = performance.now();
    signal.throwIfAborted();
  };
  const readingWithin = <Fields extends object>(stored: Collection<Fields>): Collection<Fields> => ({
    insert: (fields) => stored.insert(fields),
    replace: (id, fields, version) => stored.replace(id, fields, version),
    update: (id, changes, version) => stored.update(id, changes, version),
    delete: (id, version) => stored.delete(id, version),
    find: (id) => beforeRead().then(() => stored.find(id)),
    list: (options) => beforeRead().then(() => stored.list(options)),
    count: (filter) => beforeRead().then(() => stored.count(filter)),
    counts: (fields, options) => beforeRead().then(() => stored.counts(fields, options)),
  });
  return {
    of(tenantId) {
      const own = documents.of(tenantId);
      return { tenantId, collection: (definition) => readingWithin(own.collection(definition)) };
    },
    transaction: (work) => documents.transaction(work),
    check: () => documents.check(),
    everywhere: notForRequests,
    follow: notForRequests,
    ensureCollections: notForRequests,
    close: notForRequests,
  };
};
