/** Calls of the API, typed by the declarations of its operations. Nothing of them is in the page but the types. */
import type { z } from 'zod';

/** What the client needs of an operation's declaration. */
export interface Declared {
  readonly method: string;
  readonly path: string;
  readonly params?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  readonly response: z.ZodType;
}

/** An operation as the page asks for it. */
export interface Call<Operation extends Declared> {
  readonly method: Operation['method'];
  readonly path: Operation['path'];
  /** Carries the types alone. */
  readonly of?: Operation;
}

type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : Record<string, never>;

/** What a call sends. */
export interface Sent<Operation extends Declared> {
  readonly params?: InputOf<Operation['params']>;
  readonly query?: InputOf<Operation['query']>;
  readonly body?: InputOf<Operation['body']>;
}

/** What it is answered. */
export type Answered<Operation extends Declared> = z.output<Operation['response']>;

/** `callOf<typeof listLogs>('GET', '/api/logs')`: the compiler holds both against the declaration. */
export const callOf = <Operation extends Declared>(
  method: Operation['method'],
  path: Operation['path'],
): Call<Operation> => ({ method, path });

/** Path and query of a call. Parameters without a value are left out. */
export const addressOf = <Operation extends Declared>(
  { path }: Call<Operation>,
  { params, query }: Sent<Operation>,
): string => {
  const given = new Map(Object.entries((params ?? {}) as Record<string, unknown>));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>))
    if (value !== undefined && value !== '') asked.set(name, String(value));
  return asked.size === 0 ? filled : `${filled}?${asked}`;
};

/** The call for a shell, with a token of the reader's own. */
export const asCurl = (method: string, address: string): string => {
  const quoted = `${location.origin}${address}`.replaceAll("'", "'\\''");
  return `curl -s${method === 'GET' ? '' : ` -X ${method}`} -H "authorization: Bearer $TOKEN" '${quoted}'`;
};
