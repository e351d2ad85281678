import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isWebSocketUpgrade } from '../../runtime/websocket-upgrades.ts';
import { isWellFormedLicenseKey } from '../../schemas/license-key-format.ts';
import { apiTokenFormat } from '../../schemas/resources/service-account.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { Caller } from '../callers/caller.ts';
import { ApiError } from '../errors.ts';
import { readCookie, requireOwnPage, tokenCookie } from './cookies.ts';
import type { Directory } from './directory.ts';
import type { Tokens } from './tokens.ts';

export interface AuthenticationPorts {
  readonly tokens: Tokens;
  readonly directory: Directory;
  readonly settings: Pick<Settings, 'PUBLIC_URL'>;
}

/** Returns `UNAUTHENTICATED` with the challenge that HTTP requires. */
export const createUnauthenticatedError = (message: string): ApiError =>
  new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': 'Bearer realm="oiq"' } });

/**
 * Returns the caller of a request. An `Authorization` header, with a session token or an API token, takes precedence
 * over the cookie. With a cookie, writes and WebSockets must come from pages of this site: browsers do not prevent other
 * pages from reading the messages of a WebSocket. License keys are rejected. `beforeLookup` may throw before a token
 * that is not in memory is looked up in the store, because the token may be forged.
 */
export const authenticate = async (
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  ports: AuthenticationPorts,
  beforeLookup: () => void = () => {},
): Promise<Caller> => {
  const { authorization, cookie } = request.headers;
  const token = authorization === undefined ? readCookie(cookie, tokenCookie) : parseBearerToken(authorization);
  if (token === undefined) throw createUnauthenticatedError('sign in first: the request has no session');
  if (authorization !== undefined && token.startsWith(apiTokenFormat.prefix))
    return authenticateServiceAccount(token, ports, beforeLookup);
  const caller = await authenticateUser(token, ports);
  if (authorization === undefined) requireOwnPageForWrite(request, ports.settings.PUBLIC_URL);
  return caller;
};

const authenticateUser = async (token: string, { tokens, directory }: AuthenticationPorts): Promise<Caller> => {
  if (isWellFormedLicenseKey(token))
    throw createUnauthenticatedError(
      'this is a license key, which can only send telemetry: sign in, or use an API token',
    );
  const claims = await tokens.verify(token);
  if (claims === undefined)
    throw createUnauthenticatedError('the session token is invalid or has expired; sign in again');
  const { sessionId, userId, tenantId } = claims;
  const caller =
    directory.getCaller(sessionId, userId, tenantId) ?? (await directory.loadCaller(sessionId, userId, tenantId));
  if (caller === undefined) throw createUnauthenticatedError('the session has ended; sign in again');
  return caller;
};

const authenticateServiceAccount = async (
  token: string,
  { directory }: AuthenticationPorts,
  beforeLookup: () => void,
): Promise<Caller> => {
  const caller = apiTokenFormat.isWellFormed(token) && (await findServiceAccount(token, directory, beforeLookup));
  if (!caller)
    throw createUnauthenticatedError('the API token is unknown, has expired, was revoked, or its account is disabled');
  return caller;
};

const findServiceAccount = async (
  token: string,
  directory: Directory,
  beforeLookup: () => void,
): Promise<Caller | undefined> => {
  const hash = createHash('sha256').update(token).digest('hex');
  const cachedCaller = directory.getServiceAccountCaller(hash);
  if (cachedCaller !== undefined) return cachedCaller;
  beforeLookup();
  return directory.loadServiceAccountCaller(hash);
};

/**
 * Converts a request with an API token as the password of `Authorization: Basic`, with any user name, to a bearer
 * request. Session tokens are not accepted this way, because browsers resend Basic credentials with every request.
 */
export const convertBasicToBearer = ({
  headers,
  method,
}: Pick<IncomingMessage, 'headers' | 'method'>): Pick<IncomingMessage, 'headers' | 'method'> => {
  const credentials = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const userAndPassword = Buffer.from(credentials, 'base64').toString('utf8');
  const password = userAndPassword.slice(userAndPassword.indexOf(':') + 1);
  return password.startsWith(apiTokenFormat.prefix)
    ? { headers: { ...headers, authorization: `Bearer ${password}` }, method }
    : { headers, method };
};

const parseBearerToken = (authorization: string): string | undefined => /^Bearer +(\S+)$/i.exec(authorization)?.[1];

const requireOwnPageForWrite = (
  { method, headers }: Pick<IncomingMessage, 'headers' | 'method'>,
  publicUrl: string | undefined,
): void => {
  const isWebSocket = isWebSocketUpgrade({ headers });
  if ((method === 'GET' || method === 'HEAD') && !isWebSocket) return;
  const [site] = [headers['sec-fetch-site']].flat();
  const { origin, host } = headers;
  // Browsers send the page's origin with every WebSocket; not all send its site.
  const isSiteReliable = !isWebSocket || site === 'same-origin';
  requireOwnPage({ site: isSiteReliable ? site : undefined, origin, host }, publicUrl);
};
