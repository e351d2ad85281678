/** How a WebSocket of the API is declared: what may be asked, whose rights it takes, what it sends. */
import type { z } from 'zod';
import type { Caller } from '../callers/caller.ts';
import type { Opened } from '../connection.ts';
import type { Method } from './operation.ts';
import type { Ports } from './ports.ts';

export interface StreamDefinition<Query extends z.ZodType> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The operations of which a caller needs the rights, by the value of the query parameter `parameter`; the first where it is absent. */
  readonly rights: { readonly parameter: string; readonly operations: Readonly<Record<string, Reading>> };
  /** A strict object. */
  readonly query: Query;
  /** What it sends, by the name of the message. */
  readonly messages: Readonly<Record<string, { readonly summary: string; readonly payload: z.ZodType }>>;
  /** How many may be open at a time on one instance. */
  readonly maxConnections: { readonly ofCaller: number; readonly ofTenant: number; readonly ofAll: number };
  /** Rejects with what the client is refused with. */
  open(input: { readonly caller: Caller; readonly query: z.output<Query> }, ports: Ports): Promise<Opened>;
}

/** A read, as `GET /api/logs`. */
export type Reading = `${Method} /${string}`;

/** A stream as the server, the document and the tests see it. */
export interface Stream extends Omit<StreamDefinition<z.ZodType>, 'open'> {
  open(input: { readonly caller: Caller; readonly query: unknown }, ports: Ports): Promise<Opened>;
}

export const defineStream = <Query extends z.ZodType>(definition: StreamDefinition<Query>): Stream => ({
  ...definition,
  open: ({ caller, query }, ports) => definition.open({ caller, query: query as z.output<Query> }, ports),
});

/** Why a connection ends, by the code that the client is given. */
export const closeCodes = {
  1001: 'The instance stops: connect again',
  1003: 'The client sent a message; none is expected',
  1009: 'The client sent a message that is too large',
  1013: 'Rights cannot be checked now: connect again later',
  4401: 'The session or API token is over',
  4403: 'The role, the plan or the scopes of the caller do not allow it any more',
} as const;
export type CloseCode = keyof typeof closeCodes;
