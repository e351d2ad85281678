/** Declaration of a WebSocket of the API: its parameters, required permissions, and messages. */
import type { z } from 'zod';
import type { Caller } from '../callers/caller.ts';
import type { AdmittedStream } from '../connection.ts';
import type { Method } from './operation.ts';
import type { Ports } from './ports.ts';

export interface StreamDefinition<Query extends z.ZodType> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /**
   * The operations whose permissions a caller needs, by the value of the query parameter `parameter`; the first if it
   * is absent.
   */
  readonly rights: { readonly parameter: string; readonly operations: Readonly<Record<string, ReadRoute>> };
  /** A strict object */
  readonly query: Query;
  /** Sent messages, by name */
  readonly messages: Readonly<Record<string, { readonly summary: string; readonly payload: z.ZodType }>>;
  /** Maximum concurrent connections on one instance */
  readonly maxConnections: { readonly ofCaller: number; readonly ofTenant: number; readonly ofAll: number };
  /** Rejects with the error for the client. */
  open(input: { readonly caller: Caller; readonly query: z.output<Query> }, ports: Ports): Promise<AdmittedStream>;
}

/** A read, such as `GET /api/logs`. */
export type ReadRoute = `${Method} /${string}`;

/** A stream for the server, the document and the tests. */
export interface Stream extends Omit<StreamDefinition<z.ZodType>, 'open'> {
  open(input: { readonly caller: Caller; readonly query: unknown }, ports: Ports): Promise<AdmittedStream>;
}

export const defineStream = <Query extends z.ZodType>(definition: StreamDefinition<Query>): Stream => ({
  ...definition,
  open: ({ caller, query }, ports) => definition.open({ caller, query: query as z.output<Query> }, ports),
});

/** Reasons for closing a connection, by the code that the client receives. */
export const closeCodes = {
  1001: 'The instance is stopping: connect again',
  1003: 'The client sent a message; none is expected',
  1009: 'The client sent a message that is too large',
  1013: 'Permissions cannot be checked now: connect again later',
  4401: 'The session or API token has expired',
  4403: 'The role, the plan or the scopes of the caller do not allow it any more',
} as const;
export type CloseCode = keyof typeof closeCodes;
