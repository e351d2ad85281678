import type { IncomingMessage } from 'node:http';
import type { Caller, Directory } from './directory.ts';
import { ApiError } from './errors.ts';
import type { Tokens } from './tokens.ts';

export const tokenCookie = 'oiq_token';

const unauthenticated = (message: string): ApiError =>
  new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': 'Bearer realm="oiq"' } });

/**
 * The caller of a request. `Authorization`, where present, alone decides; else the cookie does, and then a write must
 * come from our own pages. A license key is no session.
 */
export const authenticate = async (
  request: IncomingMessage,
  { tokens, directory, publicUrl }: { tokens: Tokens; directory: Directory; publicUrl: string | undefined },
): Promise<Caller> => {
  const { authorization } = request.headers;
  const token = authorization === undefined ? cookieOf(request) : bearerOf(authorization);
  if (token === undefined) throw unauthenticated('sign in first: there is no session with this request');
  const claims = await tokens.verify(token);
  if (claims === undefined) throw unauthenticated('the session token is not valid or is over; sign in again');
  const { sessionId, userId, tenantId } = claims;
  const caller =
    directory.caller(sessionId, userId, tenantId) ?? (await directory.freshCaller(sessionId, userId, tenantId));
  if (caller === undefined) throw unauthenticated('the session has ended; sign in again');
  if (authorization === undefined) refuseForeignOrigin(request, publicUrl);
  return caller;
};

const bearerOf = (authorization: string): string | undefined => /^Bearer +(\S+)$/i.exec(authorization)?.[1];

const cookieOf = ({ headers: { cookie } }: IncomingMessage): string | undefined => {
  if (cookie === undefined) return undefined;
  for (const pair of cookie.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === tokenCookie) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
};

/** A browser sends cookies along with whatever page asks; so a write needs proof that the page is ours. */
const refuseForeignOrigin = ({ method, headers }: IncomingMessage, publicUrl: string | undefined): void => {
  if (method === 'GET' || method === 'HEAD') return;
  const site = headers['sec-fetch-site'];
  const ours = site === undefined ? isOurs(headers.origin, headers.host, publicUrl) : site === 'same-origin';
  if (!ours)
    throw new ApiError(
      'FORBIDDEN',
      'a change with the session cookie must come from this site’s own pages; programs send the token as Authorization: Bearer',
    );
};

const isOurs = (origin: string | undefined, host: string | undefined, publicUrl: string | undefined): boolean => {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (publicUrl !== undefined && new URL(publicUrl).origin === origin) return true;
  return host !== undefined && new URL(origin).host === host.toLowerCase();
};

/** `Set-Cookie` of a session token. `Secure` everywhere but on loopback, where there is no TLS. */
export const sessionCookie = (token: string, expiresAt: Date, host: string): string =>
  `${tokenCookie}=${token}; Path=/; HttpOnly; SameSite=Lax; Expires=${expiresAt.toUTCString()}${isLoopback(host) ? '' : '; Secure'}`;

/** `Set-Cookie` that removes it. */
export const endedCookie = (host: string): string => sessionCookie('', new Date(0), host);

const isLoopback = (host: string): boolean => {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
};
