/** API calls with the types of their operations. Only types are imported from the API, and none of its code. */
import type { z } from 'zod';

/** The parts of an operation's declaration that the client needs */
export interface OperationDeclaration {
  readonly method: string;
  readonly path: string;
  readonly params?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  readonly response: z.ZodType;
}

/** API operation that the page calls */
export interface Call<Operation extends OperationDeclaration> {
  readonly method: Operation['method'];
  readonly path: Operation['path'];
  /** Never set; only carries the type */
  readonly operation?: Operation;
}

type SchemaInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : Record<string, never>;

/** Parameters and body of a call */
export interface CallInput<Operation extends OperationDeclaration> {
  readonly params?: SchemaInput<Operation['params']>;
  readonly query?: SchemaInput<Operation['query']>;
  readonly body?: SchemaInput<Operation['body']>;
  /** Version of the changed resource, if the operation requires it */
  readonly ifMatch?: number;
}

/** Response body of a call */
export type ResponseBody<Operation extends OperationDeclaration> = z.output<Operation['response']>;

/**
 * Declares a call, for example `declareCall<typeof listLogs>('GET', '/api/logs')`. The compiler checks the method and
 * path against the operation.
 */
export const declareCall = <Operation extends OperationDeclaration>(
  method: Operation['method'],
  path: Operation['path'],
): Call<Operation> => ({ method, path });

/** A configuration resource, with its view for callers */
interface Resource {
  toView(document: never, context: never): Promise<unknown>;
}
/** View of a configuration resource */
export type ResourceView<Kind extends Resource> = Awaited<ReturnType<Kind['toView']>>;

/** List operation with any filters, because the compiler cannot infer the filters of a generated operation */
export type WithFilters<Operation extends OperationDeclaration> = Omit<Operation, 'query'> & {
  readonly query: z.ZodType<unknown, Readonly<Record<string, string | number>>>;
};

/** Operation that lists configuration resources */
interface ListOperation<Kind extends Resource> extends OperationDeclaration {
  readonly method: 'GET';
  readonly query: z.ZodType<unknown, Readonly<Record<string, string | number>>>;
  readonly response: z.ZodType<{ readonly items: readonly ResourceView<Kind>[]; readonly nextCursor: string | null }>;
}
interface CreateOperation<Kind extends Resource, Fields extends z.ZodType> extends OperationDeclaration {
  readonly method: 'POST';
  readonly body: Fields;
  readonly response: z.ZodType<ResourceView<Kind>>;
}
/** Operation that reads, replaces or updates one configuration resource */
interface ItemOperation<Kind extends Resource, Method extends string, Fields extends z.ZodType | undefined>
  extends OperationDeclaration {
  readonly method: Method;
  readonly params: z.ZodType<unknown, Readonly<Record<string, string>>>;
  readonly body: Fields;
  readonly response: z.ZodType<ResourceView<Kind>>;
}
interface DeleteOperation extends OperationDeclaration {
  readonly method: 'DELETE';
  readonly params: z.ZodType<unknown, Readonly<Record<string, string>>>;
  readonly response: z.ZodType<object>;
}
export const declareListCall = <Kind extends Resource>(path: string): Call<ListOperation<Kind>> => ({
  method: 'GET',
  path,
});
export const declareCreateCall = <Kind extends Resource, Fields extends z.ZodType>(
  path: string,
): Call<CreateOperation<Kind, Fields>> => ({ method: 'POST', path });

/** Adds query parameters to a path. Parameters without a value are omitted. */
export const addQuery = (path: string, query: Readonly<Record<string, unknown>>): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params}`;
};
export const declareReplaceCall = <Kind extends Resource, Fields extends z.ZodType>(
  path: string,
): Call<ItemOperation<Kind, 'PUT', Fields>> => ({ method: 'PUT', path });
export const declareUpdateCall = <Kind extends Resource, Fields>(
  path: string,
): Call<ItemOperation<Kind, 'PATCH', z.ZodType<unknown, Fields>>> => ({ method: 'PATCH', path });
export const declareReadCall = <Kind extends Resource>(path: string): Call<ItemOperation<Kind, 'GET', undefined>> => ({
  method: 'GET',
  path,
});
export const declareDeleteCall = (path: string): Call<DeleteOperation> => ({ method: 'DELETE', path });

/** Returns the URL of a call, relative to the host. Query parameters without a value are omitted. */
export const toUrl = <Operation extends OperationDeclaration>(
  { path }: Call<Operation>,
  { params, query }: CallInput<Operation>,
): string => {
  const pathParams = new Map(Object.entries((params ?? {}) as Record<string, unknown>));
  const filledPath = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(pathParams.get(name))));
  return addQuery(filledPath, (query ?? {}) as Record<string, unknown>);
};
