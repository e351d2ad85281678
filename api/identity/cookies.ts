/** Cookies of a session, and the check that a change with cookies comes from a page of this site. */
import { ApiError } from '../errors.ts';

export const tokenCookie = 'oiq_token';
export const refreshCookie = 'oiq_refresh';

/** Returns the value of a cookie in a `Cookie` header. */
export const readCookie = (header: string | undefined, name: string): string | undefined => {
  for (const pair of header?.split(';') ?? []) {
    const separatorIndex = pair.indexOf('=');
    if (separatorIndex > 0 && pair.slice(0, separatorIndex).trim() === name)
      return pair.slice(separatorIndex + 1).trim() || undefined;
  }
  return undefined;
};

/** A cookie to set: its value and expiry. */
export interface CookieValue {
  readonly value: string;
  readonly expiresAt: Date;
}

/**
 * `Set-Cookie` headers of a session's two tokens. The refresh token is sent to `/auth` only, and never with requests
 * from another site.
 */
export const formatSessionCookies = (
  token: CookieValue,
  refreshToken: CookieValue,
  { secure }: { readonly secure: boolean },
): readonly string[] => {
  const secureAttribute = secure ? '; Secure' : '';
  return [
    `${tokenCookie}=${token.value}; Path=/; HttpOnly; SameSite=Lax; Expires=${token.expiresAt.toUTCString()}${secureAttribute}`,
    `${refreshCookie}=${refreshToken.value}; Path=/auth; HttpOnly; SameSite=Strict; Expires=${refreshToken.expiresAt.toUTCString()}${secureAttribute}`,
  ];
};

/**
 * Whether cookies require TLS, according to the public URL. Without a public URL, they require it on every host except
 * loopback, which has no TLS. The host is only a fallback, because a proxy may send its own name as the host.
 */
export const areCookiesSecure = (publicUrl: string | undefined, host: string): boolean =>
  publicUrl === undefined ? !isLoopback(host) : new URL(publicUrl).protocol === 'https:';

/** `Set-Cookie` headers that remove both cookies. */
export const formatExpiredCookies = (request: { readonly secure: boolean }): readonly string[] => {
  const expiredCookie = { value: '', expiresAt: new Date(0) };
  return formatSessionCookies(expiredCookie, expiredCookie, request);
};

/** Returns whether the host that a client sent is this machine, which has no TLS and needs none. */
export const isLoopback = (host: string): boolean => {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
};

/** Headers in which a browser identifies the requesting page. */
export interface PageHeaders {
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/**
 * Throws if a change comes from a page of another site: browsers send cookies with the requests of every page, so the
 * headers must show that the page belongs to this site.
 */
export const requireOwnPage = ({ site, origin, host }: PageHeaders, publicUrl: string | undefined): void => {
  const isOwnPage = site === undefined ? isOwnOrigin(origin, host, publicUrl) : site === 'same-origin';
  if (!isOwnPage)
    throw new ApiError(
      'FORBIDDEN',
      'a change or a WebSocket with the session cookie must come from this site’s own pages; programs send the token as Authorization: Bearer',
    );
};

const isOwnOrigin = (origin: string | undefined, host: string | undefined, publicUrl: string | undefined): boolean => {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (publicUrl !== undefined) return new URL(publicUrl).origin === origin;
  const { protocol, host: originHost } = new URL(origin);
  return (protocol === 'https:' || protocol === 'http:') && originHost === host?.toLowerCase();
};
