/** API calls, typed by the declarations of operations. The page only includes their types. */
import type { z } from 'zod';

/** Part of an operation's declaration that the client needs */
export interface Declared {
  readonly method: string;
  readonly path: string;
  readonly params?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  readonly response: z.ZodType;
}

/** An operation as called by the page */
export interface Call<Operation extends Declared> {
  readonly method: Operation['method'];
  readonly path: Operation['path'];
  /** Only carries the types */
  readonly of?: Operation;
}

type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : Record<string, never>;

/** Request of a call */
export interface Sent<Operation extends Declared> {
  readonly params?: InputOf<Operation['params']>;
  readonly query?: InputOf<Operation['query']>;
  readonly body?: InputOf<Operation['body']>;
  /** Version of the changed resource, if the operation requires it */
  readonly ifMatch?: number;
}

/** Response of a call */
export type Answered<Operation extends Declared> = z.output<Operation['response']>;

/**
 * Returns a call: `callOf<typeof listLogs>('GET', '/api/logs')`. The compiler checks method and path against the
 * declaration.
 */
export const callOf = <Operation extends Declared>(
  method: Operation['method'],
  path: Operation['path'],
): Call<Operation> => ({ method, path });

/** A configuration resource, with its view for callers */
interface Resource {
  shown(document: never, context: never): Promise<unknown>;
}
/** View of a configuration resource */
export type ViewOf<Kind extends Resource> = Awaited<ReturnType<Kind['shown']>>;

/** An operation with filters from a list, which the compiler cannot infer */
export type Filtered<Operation extends Declared> = Omit<Operation, 'query'> & {
  readonly query: z.ZodType<unknown, Readonly<Record<string, string | number>>>;
};

/** List and creation of a configuration resource: `listOf<typeof alertRuleResource>('/api/alerts/rules')` */
interface ListOf<Kind extends Resource> extends Declared {
  readonly method: 'GET';
  readonly query: z.ZodType<unknown, Readonly<Record<string, string | number>>>;
  readonly response: z.ZodType<{ readonly items: readonly ViewOf<Kind>[]; readonly nextCursor: string | null }>;
}
interface CreationOf<Kind extends Resource, Fields extends z.ZodType> extends Declared {
  readonly method: 'POST';
  readonly body: Fields;
  readonly response: z.ZodType<ViewOf<Kind>>;
}
/** Reads, replaces or updates a configuration resource */
interface OneOf<Kind extends Resource, Method extends string, Fields extends z.ZodType | undefined> extends Declared {
  readonly method: Method;
  readonly params: z.ZodType<unknown, Readonly<Record<string, string>>>;
  readonly body: Fields;
  readonly response: z.ZodType<ViewOf<Kind>>;
}
interface Removal extends Declared {
  readonly method: 'DELETE';
  readonly params: z.ZodType<unknown, Readonly<Record<string, string>>>;
  readonly response: z.ZodType<object>;
}
export const listOf = <Kind extends Resource>(path: string): Call<ListOf<Kind>> => ({ method: 'GET', path });
export const creationOf = <Kind extends Resource, Fields extends z.ZodType>(
  path: string,
): Call<CreationOf<Kind, Fields>> => ({ method: 'POST', path });

/** Returns a path with query parameters; those without a value are omitted. */
export const asQuery = (path: string, query: Readonly<Record<string, unknown>>): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params}`;
};
export const replacementOf = <Kind extends Resource, Fields extends z.ZodType>(
  path: string,
): Call<OneOf<Kind, 'PUT', Fields>> => ({ method: 'PUT', path });
export const changeOf = <Kind extends Resource, Fields>(
  path: string,
): Call<OneOf<Kind, 'PATCH', z.ZodType<unknown, Fields>>> => ({ method: 'PATCH', path });
export const readingOf = <Kind extends Resource>(path: string): Call<OneOf<Kind, 'GET', undefined>> => ({
  method: 'GET',
  path,
});
export const removalOf = (path: string): Call<Removal> => ({ method: 'DELETE', path });

/** Returns the path and query of a call; parameters without a value are omitted. */
export const addressOf = <Operation extends Declared>(
  { path }: Call<Operation>,
  { params, query }: Sent<Operation>,
): string => {
  const given = new Map(Object.entries((params ?? {}) as Record<string, unknown>));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))));
  return asQuery(filled, (query ?? {}) as Record<string, unknown>);
};
