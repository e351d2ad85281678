/** The cookies of a session, and what a browser must show before they count for a change. */
import { ApiError } from '../errors.ts';

export const tokenCookie = 'oiq_token';
export const refreshCookie = 'oiq_refresh';

/** The value of a cookie in a `Cookie` header. */
export const cookieIn = (header: string | undefined, name: string): string | undefined => {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
};

/** One cookie to be set: its value, and until when it is kept. */
export interface CookieValue {
  readonly value: string;
  readonly until: Date;
}

/**
 * `Set-Cookie` of a session's two tokens. The refresh token goes to `/auth` only, and never along with what another site
 * asks.
 */
export const sessionCookies = (
  token: CookieValue,
  refresh: CookieValue,
  { secure }: { readonly secure: boolean },
): readonly string[] => {
  const overTls = secure ? '; Secure' : '';
  return [
    `${tokenCookie}=${token.value}; Path=/; HttpOnly; SameSite=Lax; Expires=${token.until.toUTCString()}${overTls}`,
    `${refreshCookie}=${refresh.value}; Path=/auth; HttpOnly; SameSite=Strict; Expires=${refresh.until.toUTCString()}${overTls}`,
  ];
};

/**
 * Whether cookies go over TLS alone. The public address says; without one, everywhere but on loopback, where there is
 * no TLS. A proxy may name itself as the host, so the host decides only then.
 */
export const isSecure = (publicUrl: string | undefined, host: string): boolean =>
  publicUrl === undefined ? !isLoopback(host) : new URL(publicUrl).protocol === 'https:';

/** `Set-Cookie` that removes both. */
export const endedCookies = (request: { readonly secure: boolean }): readonly string[] => {
  const expiredCookie = { value: '', until: new Date(0) };
  return sessionCookies(expiredCookie, expiredCookie, request);
};

/** Whether a host, as a client names it, is this machine: there is no TLS, and need be none. */
export const isLoopback = (host: string): boolean => {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
};

/** The headers by which a browser says which page asks. */
export interface Page {
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/** A browser sends cookies along with whatever page asks; so what a cookie changes needs proof that the page is ours. */
export const refuseForeignPage = ({ site, origin, host }: Page, publicUrl: string | undefined): void => {
  const ours = site === undefined ? isOurs(origin, host, publicUrl) : site === 'same-origin';
  if (!ours)
    throw new ApiError(
      'FORBIDDEN',
      'a change or a WebSocket with the session cookie must come from this site’s own pages; programs send the token as Authorization: Bearer',
    );
};

const isOurs = (origin: string | undefined, host: string | undefined, publicUrl: string | undefined): boolean => {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (publicUrl !== undefined) return new URL(publicUrl).origin === origin;
  const { protocol, host: theirs } = new URL(origin);
  return (protocol === 'https:' || protocol === 'http:') && theirs === host?.toLowerCase();
};
