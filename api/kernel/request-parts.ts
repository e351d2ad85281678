/** Reads the parts of a request that operations validate. */
import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { Context } from 'koa';
import { type ResolveSource, readSourceAddress } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import { areCookiesSecure } from '../identity/cookies.ts';
import type { RequestFacts } from '../request-facts.ts';
import { hasBody, isJson, readBytes, readForm, readJson, readPackedBytes } from './json-body.ts';
import type { Operation } from './operation.ts';

/** Reads a JSON body even if none is declared, because its `tenantId` is checked. */
export const readBody = async (
  request: IncomingMessage,
  operation: Operation,
  caller: Caller | undefined,
): Promise<unknown> => {
  if (request.method === 'GET' || request.method === 'HEAD' || !hasBody(request)) return undefined;
  if (operation.form) return parseQueryText(await readForm(request, operation.maxBodyBytes));
  const [type = ''] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const parser = Object.entries(operation.alsoAccepts ?? {}).find(
    ([acceptedType]) => acceptedType === type.trim(),
  )?.[1];
  if (parser !== undefined && operation.packsBody === true) return readPackedBytes(request, operation.maxBodyBytes);
  if (parser !== undefined) return parser(await readBytes(request, operation.maxBodyBytes), caller);
  if (operation.body === undefined && !isJson(request)) return undefined;
  return readJson(request, operation.maxBodyBytes, operation.maxElements);
};

/** Parses query parameters by name. A repeated parameter has an array of values. */
export const parseQueryText = (text: string): Record<string, unknown> => {
  // Without a prototype, `__proto__` is a normal name, and is rejected as unknown.
  const query: Record<string, unknown> = Object.create(null);
  if (text === '') return query;
  const parsedQuery = parseQuery(text);
  // Forms send empty parameters: they count as absent.
  for (const name of Object.keys(parsedQuery)) if (parsedQuery[name] !== '') query[name] = parsedQuery[name];
  return query;
};

/**
 * Returns the query and the body that operations validate, without `tenantId`. A parameter in both query and form counts as
 * repeated.
 */
export const splitQueryAndBody = (
  { form }: Operation,
  { tenantId: _, ...query }: Record<string, unknown>,
  body: unknown,
): { readonly query: Record<string, unknown>; readonly body: unknown } => {
  const parameters: Record<string, unknown> = Object.assign(Object.create(null), query);
  if (form === undefined) return { query: parameters, body };
  const { tenantId: __, ...fields } = (body ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields))
    parameters[name] = name in parameters ? [value, parameters[name]].flat() : value;
  return { query: parameters, body: undefined };
};

export const createRequestFacts = (
  context: Context,
  resolveAddress: ResolveSource,
  publicUrl: string | undefined,
): RequestFacts => ({
  requestId: context.state['requestId'] as string,
  address: readSourceAddress(context.req, resolveAddress),
  userAgent: context.get('user-agent'),
  host: context.req.headers.host ?? '',
  secure: areCookiesSecure(publicUrl, context.req.headers.host ?? ''),
  header: (name) => context.get(name),
  reply: (name, value) => context.append(name, value),
  redirect(location) {
    context.state['location'] = location;
  },
});
