/** Reads the parts of a request that operations validate. */
import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { Context } from 'koa';
import type { SourceOf } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import { isSecure } from '../identity/cookies.ts';
import type { RequestFacts } from '../request-facts.ts';
import { hasBody, isJson, readBytes, readForm, readJson } from './json-body.ts';
import type { Operation } from './operation.ts';

/** Reads a JSON body even if none is declared, because its `tenantId` is checked. */
export const bodyOf = async (
  request: IncomingMessage,
  operation: Operation,
  caller: Caller | undefined,
): Promise<unknown> => {
  if (request.method === 'GET' || request.method === 'HEAD' || !hasBody(request)) return undefined;
  if (operation.form) return queryOf(await readForm(request, operation.maxBodyBytes));
  const [type = ''] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const parser = Object.entries(operation.alsoAccepts ?? {}).find(([other]) => other === type.trim())?.[1];
  if (parser !== undefined) return parser(await readBytes(request, operation.maxBodyBytes), caller);
  if (operation.body === undefined && !isJson(request)) return undefined;
  return readJson(request, operation.maxBodyBytes, operation.maxElements);
};

/** Query parameters by name. A repeated name has an array. */
export const queryOf = (text: string): Record<string, unknown> => {
  // Without a prototype, `__proto__` is a normal name, and is rejected as unknown.
  const query: Record<string, unknown> = Object.create(null);
  if (text === '') return query;
  const parsed = parseQuery(text);
  // Forms send empty parameters: they count as not given.
  for (const name of Object.keys(parsed)) if (parsed[name] !== '') query[name] = parsed[name];
  return query;
};

/**
 * The parts that operations validate, without the named organization. A parameter in both query and form counts as
 * repeated.
 */
export const partsOf = (
  { form }: Operation,
  { tenantId: _, ...query }: Record<string, unknown>,
  body: unknown,
): { readonly query: Record<string, unknown>; readonly body: unknown } => {
  const all: Record<string, unknown> = Object.assign(Object.create(null), query);
  if (form === undefined) return { query: all, body };
  const { tenantId: __, ...fields } = (body ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) all[name] = name in all ? [value, all[name]].flat() : value;
  return { query: all, body: undefined };
};

export const factsOf = (context: Context, addressOf: SourceOf, publicUrl: string | undefined): RequestFacts => ({
  requestId: context.state['requestId'] as string,
  address: sourceOf(context.req, addressOf),
  userAgent: context.get('user-agent'),
  host: context.req.headers.host ?? '',
  secure: isSecure(publicUrl, context.req.headers.host ?? ''),
  header: (name) => context.get(name),
  reply: (name, value) => context.append(name, value),
  redirect(location) {
    context.state['location'] = location;
  },
});

/** Reads the address early: a closed socket has none, and records after the answer need it. */
export const sourceOf = ({ headers, socket }: IncomingMessage, addressOf: SourceOf): string => {
  const forwardedFor = headers['x-forwarded-for'];
  return addressOf(socket.remoteAddress, forwardedFor === undefined ? undefined : String(forwardedFor));
};
