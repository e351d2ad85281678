import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Bucket } from '../../schemas/ports/counters.ts';
import type { Caller } from '../identity/caller.ts';
import type { Access } from '../identity/rights.ts';
import type { ScopeName } from '../identity/scopes.ts';
import type { Transact } from './changes.ts';
import { type Detail, invalidFields } from './errors.ts';
import type { Ports } from './ports.ts';

/** With the 15 seconds that a body may take, the answer is there before the usual proxies give up, after 60. One query of telemetry takes 30 at most. */
const usualBudgetMs = 45_000;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

/** What a handler may know of the request besides its validated parts. */
export interface RequestFacts {
  readonly requestId: string;
  /** Source address, after trusted proxies. */
  readonly address: string;
  readonly userAgent: string;
  /** Host as the client, or the last proxy, names it. */
  readonly host: string;
  /** Whether cookies go over TLS alone. */
  readonly secure: boolean;
  header(name: string): string;
  /** Adds a header to the answer; `Set-Cookie` may be added several times. */
  reply(name: string, value: string): void;
  /** Sends the browser elsewhere in place of an answer: for operations that people reach by a link alone. */
  redirect(location: string): void;
}

export interface Input<Params, Query, Body> {
  /** Who asks. Only operations with access `none` have callers without a session: they see `undefined` through `anyone`. */
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: RequestFacts;
  /** Aborts when the client leaves or the operation's time is over. Reads of `documents` and `columns` heed it by themselves. */
  readonly signal: AbortSignal;
  /** Changes documents and records it; the only way in which operations write configuration. */
  readonly change: Transact;
}

/** One operation of the management API, declared once. */
export interface Definition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
> {
  readonly method: Method;
  /** OpenAPI style, `/api/slos/{id}`. What begins with `/api/` answers under `/api/tenants/{tenantId}/` too. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Lowest role that may call. There is no default: an operation without one does not compile. */
  readonly role: Access;
  /** For signed-in users only: no API token has a scope for it. */
  readonly people?: boolean;
  /** What the plan must include, where its group does not say so for all. */
  readonly entitlement?: string | undefined;
  /**
   * Actions under which its writes are recorded, `<resource type>.<verb>`, the usual one first. On a GET: a read so
   * sensitive that it is recorded before it is answered; of what does not exist nothing is recorded. Every other method needs this or `unaudited`.
   */
  readonly audit?: string | readonly string[];
  /** A GET that changes something, because a browser comes back by it, and records that itself. */
  readonly changes?: true;
  /** Why a method other than GET leaves no audit record. */
  readonly unaudited?: string;
  /**
   * For telemetry queries: an answer may be given again for so long to callers of the same organization with the same
   * rights. The handler must not look at who asks, nor add headers.
   */
  readonly cache?: { readonly ttlMs: number };
  /**
   * Answers carry an `ETag`. `read` also answers 304 to `If-None-Match`; `write` also heeds `If-Match`, and `insist`
   * does nothing without one. Published from here; the handler does it.
   */
  readonly versions?: 'shown' | 'read' | 'write' | 'require' | undefined;
  /** How often one caller (one address, without a session) may call it, instead of what the settings say for all operations. */
  readonly limit?: Bucket;
  /** Strict objects; a key that they do not name is refused. Without `query`, every parameter is. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Further fields of the body that the server owns: ignored, as `id` and `version` are. */
  readonly serverOwned?: readonly string[];
  readonly maxBodyBytes?: number | undefined;
  /** How long it may take, where that is not 45 seconds; after that the answer is `UNAVAILABLE`. */
  readonly budgetMs?: number;
  readonly response: Response;
  /**
   * Content type of the answer; anything but JSON is sent as the handler returned it (text, bytes or a stream). Where
   * the request decides, all that there are: the handler answers `Sent` then.
   */
  readonly contentType?: string | readonly [string, string, ...string[]];
  /** Served, but left out of the OpenAPI document. */
  readonly hidden?: boolean;
  /** False for what is declared and answers 501. */
  readonly built?: boolean;
  handler(
    input: Input<z.output<Params>, z.output<Query>, z.output<Body>>,
    ports: Ports,
  ): Promise<z.input<Response>> | z.input<Response>;
}

/** An answer whose content type the request decided. A stream that fails resets the connection, so that clients notice that it is incomplete. */
export interface Sent {
  readonly contentType: string;
  readonly content: string | Uint8Array | Readable;
}

/** The parts of a request before they are validated. */
export type RawInput = Input<Readonly<Record<string, string>>, Readonly<Record<string, unknown>>, unknown>;

/** An operation by itself, before it stands in a group: its definition with every default. */
export interface DeclaredOperation
  extends Omit<Definition<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'handler' | 'audit' | 'contentType'> {
  readonly people: boolean;
  readonly audit: readonly string[];
  readonly maxBodyBytes: number;
  readonly budgetMs: number;
  readonly contentType: string;
  /** All that an answer may have, `contentType` the first. */
  readonly contentTypes: readonly string[];
  readonly hidden: boolean;
  readonly built: boolean;
  /** Validates and runs. Rejects with `ApiError` for everything that is not a success. */
  run(input: RawInput, ports: Ports): Promise<unknown>;
}

/** An operation of a group, as the server, the OpenAPI document and the tests see it. */
export interface Operation extends DeclaredOperation {
  readonly group: string;
  /** What an API token needs; without one, no API token may. */
  readonly scope: ScopeName | undefined;
}

/** Of operations that declare no query. */
const noParameters = z.strictObject({});

/** Fields that the server owns: what was read can be edited and sent back with them. */
const alwaysServerOwned = ['id', 'version', 'createdAt', 'updatedAt', 'tenantId'];

export const defineOperation = <
  Params extends z.ZodType = z.ZodType<Record<string, never>>,
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodType<undefined>,
  Response extends z.ZodType = z.ZodType,
>(
  definition: Definition<Params, Query, Body, Response>,
): DeclaredOperation => {
  const { handler, ...declared } = definition;
  const { params, query, body, audit = [], contentType = 'application/json; charset=utf-8', built = true } = declared;
  const contentTypes = [contentType].flat();
  const serverOwned = [...alwaysServerOwned, ...(definition.serverOwned ?? [])];
  const ignored = body === undefined ? [] : serverOwned.filter((name) => !declares(body, name));
  return {
    ...{ people: false, hidden: false, budgetMs: usualBudgetMs },
    ...declared,
    audit: [audit].flat(),
    maxBodyBytes: definition.maxBodyBytes ?? 1024 * 1024,
    contentType: contentTypes[0] ?? '',
    contentTypes,
    built,
    async run(raw, ports) {
      const problems: Detail[] = [];
      const input = {
        ...raw,
        params: parsed(params, raw.params, problems),
        query: parsed(query ?? (built ? noParameters : undefined), raw.query, problems),
        body: parsed(body, without(raw.body, ignored), problems),
      } as Input<z.output<Params>, z.output<Query>, z.output<Body>>;
      if (problems.length > 0) throw invalidFields(problems);
      if (declared.method !== 'GET' || declared.audit === undefined || declared.changes) return handler(input, ports);
      const recordRead = () => raw.change(async ({ record }) => record({ id: raw.params['id'] ?? '' }));
      // Of one thing, once it is found; either way before it is answered.
      if (params === undefined) await recordRead();
      const answer = await handler(input, ports);
      if (params !== undefined) await recordRead();
      return answer;
    },
  };
};

/** The value as the schema gives it, or `VALIDATION_FAILED` with every problem. */
export const validated = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const problems: Detail[] = [];
  const result = parsed(schema, value, problems);
  if (problems.length > 0) throw invalidFields(problems);
  return result as z.output<Schema>;
};

const parsed = (schema: z.ZodType | undefined, value: unknown, problems: Detail[]): unknown => {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) problems.push(...detailsOf(issue));
  return undefined;
};

const detailsOf = (issue: z.core.$ZodIssue): Detail[] => {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
  return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a known field' }));
};

const declares = (schema: z.ZodType, name: string): boolean => {
  const shape = (schema as { shape?: Record<string, unknown> }).shape;
  return shape !== undefined && Object.hasOwn(shape, name);
};

const without = (body: unknown, names: readonly string[]): unknown => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  if (!names.some((name) => Object.hasOwn(body, name))) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
};
