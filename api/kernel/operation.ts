import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Bucket } from '../../schemas/ports/counters.ts';
import type { ScopeName } from '../../schemas/scopes.ts';
import type { Caller } from '../callers/caller.ts';
import type { Access } from '../callers/rights.ts';
import type { Transact } from '../changes.ts';
import { createFieldErrors, type FieldError, type ForeignError } from '../errors.ts';
import type { RequestFacts } from '../request-facts.ts';
import { requireKnownProjects } from './known-project.ts';
import type { Ports } from './ports.ts';
import { setValidationMessages } from './validation-messages.ts';

setValidationMessages();

/**
 * Together with the 15 seconds for a body, the response is sent before the typical proxy timeout of 60 seconds. One
 * telemetry query takes at most 30 seconds.
 */
const defaultBudgetMs = 45_000;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

export interface Input<Params, Query, Body> {
  /** The caller. Handlers of operations with access `none` must not read it: it is undefined there. */
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: RequestFacts;
  /** Aborts when the client disconnects or the time is over. Reads of `documents` and `columns` already respect it. */
  readonly signal: AbortSignal;
  /** Changes documents and records the change. Operations write configuration only through this function. */
  readonly change: Transact;
}

/** One operation of the management API, declared once. */
export interface OperationDefinition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
  MethodType extends Method = Method,
  Path extends string = string,
> {
  readonly method: MethodType;
  /** OpenAPI style, `/api/slos/{id}`. A path under `/api/` is also served under `/api/tenants/{tenantId}/`. */
  readonly path: Path;
  readonly operationId: string;
  readonly summary: string;
  /** Lowest role that may call it. There is no default. */
  readonly role: Access;
  /** For signed-in users only: API tokens cannot call it. */
  readonly people?: boolean;
  /** Also accepts an API token as the password of `Authorization: Basic`, as clients of another product send it. */
  readonly basic?: true;
  /** Entitlement that the plan must include. Defaults to the group's entitlement. */
  readonly entitlement?: string | undefined;
  /**
   * Actions of its audit records, `<resource type>.<verb>`, the default first. A GET with an action is recorded before
   * the response is sent; a 404 is not recorded. Every other method needs this or `auditExemption`.
   */
  readonly audit?: string | readonly string[];
  /** Set for a GET that changes data, such as a sign-in callback, and records the change itself. */
  readonly changes?: true;
  /** Why a method other than GET writes no audit record */
  readonly auditExemption?: string;
  /**
   * For telemetry queries: how long a response may be reused for callers of the same organization with the same
   * permissions. The handler must not read the caller's identity, or add headers.
   */
  readonly cache?: { readonly ttlMs: number };
  /**
   * Responses contain an `ETag`. `read` also returns 304 for a matching `If-None-Match`, `write` also supports
   * `If-Match`, and `require` rejects requests without it. Documentation only: the handler implements it.
   */
  readonly versions?: 'shown' | 'read' | 'write' | 'require' | undefined;
  /** Rate limit per caller (without a session: per address), instead of the limit in the settings. */
  readonly limit?: Bucket | undefined;
  /** Strict objects: unknown keys are rejected. Without `query`, every parameter is rejected. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** More body fields that the server owns. They are ignored, like `id` and `version`. */
  readonly serverOwned?: readonly string[];
  readonly maxBodyBytes?: number | undefined;
  /** Maximum elements of each array in a JSON body; default 10,000. */
  readonly maxElements?: number | undefined;
  /**
   * Accepted media types besides JSON, in lower case, each with a function that converts the bytes to the form that
   * `body` declares, or to a promise of it. With `application/json`, the operation parses JSON itself.
   */
  readonly alsoAccepts?: Readonly<Record<string, (bytes: Uint8Array, caller: Caller | undefined) => unknown>>;
  /** The bytes of an accepted media type are passed as `PackedBytes`, for large bodies that no function converts. */
  readonly packsBody?: true;
  /** The body is form-encoded: its fields are query parameters. */
  readonly form?: true;
  /**
   * Format of parameter and handler errors, for the API of another product. Authorization errors have the default
   * format.
   */
  readonly failure?: (error: unknown) => ForeignError;
  /** Time limit, by default 45 seconds. After it, the response is `UNAVAILABLE`. */
  readonly budgetMs?: number;
  readonly response: Response;
  /**
   * Content type of the response. Content other than JSON is sent as returned by the handler (text, bytes or a stream).
   * If the request determines the type, list all types; the handler then returns `ContentResponse`, or a JSON value.
   */
  readonly contentType?: string | readonly [string, string, ...string[]];
  /** Served, but not part of the OpenAPI document. */
  readonly hidden?: boolean;
  /** False for an operation that returns 501 */
  readonly built?: boolean;
  handler(
    input: Input<z.output<Params>, z.output<Query>, z.output<Body>>,
    ports: Ports,
  ): Promise<z.input<Response> | ContentResponse> | z.input<Response>;
}

/**
 * A response whose content type depends on the request. A failing stream resets the connection, so clients notice.
 */
export interface ContentResponse {
  /** Default 200 */
  readonly status?: number;
  readonly contentType: string;
  readonly content: string | Uint8Array | Readable;
}

export const isContentResponse = (response: unknown): response is ContentResponse =>
  typeof response === 'object' && response !== null && 'contentType' in response && 'content' in response;

/** Input of a request before validation. */
export type RawInput = Input<Readonly<Record<string, string>>, Readonly<Record<string, unknown>>, unknown>;

/** An operation outside a group: its definition with all defaults. */
export interface DeclaredOperation
  extends Omit<OperationDefinition<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'handler' | 'audit' | 'contentType'> {
  readonly people: boolean;
  readonly audit: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxElements: number;
  readonly budgetMs: number;
  readonly contentType: string;
  /** All content types, `contentType` first */
  readonly contentTypes: readonly string[];
  readonly hidden: boolean;
  readonly built: boolean;
  /** Validates and runs. Rejects with `ApiError` for every failure. */
  run(input: RawInput, ports: Ports): Promise<unknown>;
}

/**
 * An operation with the types of its declaration, from which the page's client derives the input and output of a call.
 */
export type TypedOperation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
  MethodType extends Method,
  Path extends string,
> = DeclaredOperation &
  Pick<
    OperationDefinition<Params, Query, Body, Response, MethodType, Path>,
    'method' | 'path' | 'params' | 'query' | 'body' | 'response'
  >;

/** An operation of a group, for the server, the OpenAPI document and the tests. */
export interface Operation extends DeclaredOperation {
  readonly group: string;
  /**
   * The scope that an API token needs. Undefined if no API token may call it; `any` if the operation calls others as its
   * caller, each of which requires its own scope.
   */
  readonly scope: ScopeName | 'any' | undefined;
  /** Groups whose telemetry its views show to an API token without their read scope. */
  readonly reads: readonly string[];
}

/** Schema for operations without declared query parameters. */
const noParameters = z.strictObject({});

/** Maximum names in an error message */
const maxNames = 30;

/** Fields that the server owns. Clients may send them back with a response. */
const commonServerFields = ['id', 'version', 'createdAt', 'updatedAt', 'tenantId'];

export const defineOperation = <
  Params extends z.ZodType = z.ZodType<Record<string, never>>,
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodType<undefined>,
  Response extends z.ZodType = z.ZodType,
  const MethodType extends Method = Method,
  const Path extends string = string,
>(
  definition: OperationDefinition<Params, Query, Body, Response, MethodType, Path>,
): TypedOperation<Params, Query, Body, Response, MethodType, Path> => {
  const { handler, ...declaration } = definition;
  const {
    params,
    query,
    body,
    audit = [],
    contentType = 'application/json; charset=utf-8',
    built: isImplemented = true,
  } = declaration;
  const contentTypes = [contentType].flat();
  const serverOwned = [...commonServerFields, ...(definition.serverOwned ?? [])];
  const ignoredFields = body === undefined ? [] : serverOwned.filter((name) => !hasField(body, name));
  // Only reads check the requested project here: writes check the references of the written object (`resources/`).
  const isRead = definition.method === 'GET' || definition.auditExemption !== undefined;
  return {
    people: false,
    hidden: false,
    budgetMs: defaultBudgetMs,
    ...declaration,
    audit: [audit].flat(),
    maxBodyBytes: definition.maxBodyBytes ?? 1024 * 1024,
    maxElements: definition.maxElements ?? 10_000,
    contentType: contentTypes[0] ?? '',
    contentTypes,
    built: isImplemented,
    async run(raw, ports) {
      const problems: FieldError[] = [];
      const input = {
        ...raw,
        params: parseInto(params, raw.params, problems),
        query: parseInto(query ?? (isImplemented ? noParameters : undefined), raw.query, problems),
        body: parseInto(body, omitFields(raw.body, ignoredFields), problems),
      } as Input<z.output<Params>, z.output<Query>, z.output<Body>>;
      if (problems.length > 0) throw createFieldErrors(problems);
      if (isRead) await requireKnownProjects(input, ports);
      if (declaration.method !== 'GET' || declaration.audit === undefined || declaration.changes)
        return handler(input, ports);
      const recordRead = () => raw.change(async ({ record }) => record({ id: raw.params['id'] ?? '' }));
      // A read of a single object is recorded once the object is found; any other read is recorded before it runs.
      if (params === undefined) await recordRead();
      const response = await handler(input, ports);
      if (params !== undefined) await recordRead();
      return response;
    },
  };
};

/** Returns the parsed value. Throws `VALIDATION_FAILED` with every problem. */
export const parseOrThrow = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const problems: FieldError[] = [];
  const result = parseInto(schema, value, problems);
  if (problems.length > 0) throw createFieldErrors(problems);
  return result as z.output<Schema>;
};

const parseInto = (schema: z.ZodType | undefined, value: unknown, problems: FieldError[]): unknown => {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) problems.push(...toFieldErrors(issue, schema, value));
  return undefined;
};

const toFieldErrors = (issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): FieldError[] => {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys')
    return [{ path: path.join('.'), message: issue.message.replace(/\bNaN$/, () => formatReceivedValue(value, path)) }];
  return issue.keys.map((key) => ({
    path: [...path, key].join('.'),
    message: `is not a known field${path.length === 0 ? describeKnownNames(schema, key, formatReceivedValue(value, [key])) : ''}`,
  }));
};

/** Returns the received value as text, where a number was expected: zod reports invalid text as NaN. */
const formatReceivedValue = (value: unknown, path: readonly string[]): string => {
  const received = path.reduce<unknown>(
    (parent, name) => (parent as Record<string, unknown> | undefined)?.[name],
    value,
  );
  return JSON.stringify(received)?.slice(0, 100) ?? 'NaN';
};

/** Lists the known names, with a hint about searching record fields. */
const describeKnownNames = (schema: z.ZodType, key: string, received: string): string => {
  const names = Object.keys((schema as { shape?: Record<string, unknown> }).shape ?? {});
  if (names.length === 0) return '';
  const knownNames = `; known are ${names.slice(0, maxNames).join(', ')}${names.length > maxNames ? ' …' : ''}`;
  return names.includes('search')
    ? `${knownNames}; fields of records belong in search=${key}:${received.replace(/^"(\w+)"$/, '$1')}`
    : knownNames;
};

const hasField = (schema: z.ZodType, name: string): boolean => {
  const shape = (schema as { shape?: Record<string, unknown> }).shape;
  return shape !== undefined && Object.hasOwn(shape, name);
};

const omitFields = (body: unknown, names: readonly string[]): unknown => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  if (!names.some((name) => Object.hasOwn(body, name))) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
};
