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
  /** The version that is changed, where the operation asks for one. */
  readonly ifMatch?: number;
}

/** What it is answered. */
export type Answered<Operation extends Declared> = z.output<Operation['response']>;

/** `callOf<typeof listLogs>('GET', '/api/logs')`: the compiler holds both against the declaration. */
export const callOf = <Operation extends Declared>(
  method: Operation['method'],
  path: Operation['path'],
): Call<Operation> => ({ method, path });

/** A configuration resource: what one of it looks like to callers. */
interface Resource {
  shown(document: never, context: never): Promise<unknown>;
}
/** One of a configuration resource. */
export type ViewOf<Kind extends Resource> = Awaited<ReturnType<Kind['shown']>>;

/** An operation whose filters are made of a list, which the compiler does not see through. */
export type Filtered<Operation extends Declared> = Omit<Operation, 'query'> & {
  readonly query: z.ZodType<unknown, Readonly<Record<string, string | number>>>;
};

/** The list of a configuration resource, and what creates one: `listOf<typeof alertRuleResource>('/api/alerts/rules')`. */
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
/** Reads or replaces one, or changes fields of it. */
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

/** A path with parameters. Those without a value are left out. */
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

/** Path and query of a call. Parameters without a value are left out. */
export const addressOf = <Operation extends Declared>(
  { path }: Call<Operation>,
  { params, query }: Sent<Operation>,
): string => {
  const given = new Map(Object.entries((params ?? {}) as Record<string, unknown>));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))));
  return asQuery(filled, (query ?? {}) as Record<string, unknown>);
};
