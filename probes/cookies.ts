/** Cookies of a run, as a browser stores and sends them (RFC 6265). */
import { isIP } from 'node:net';
import { removeBrackets } from './reach.ts';

interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Host or domain, in lower case */
  readonly domain: string;
  /** Whether only the host that set it gets it, but no subdomain */
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
  readonly expiresAtMs: number;
}

/** Maximum number of cookies of a run, and of characters of one */
const maxCookies = 300;
const maxCookieLength = 8192;

const isSubdomain = (host: string, domain: string): boolean =>
  host === domain || (host.endsWith(`.${domain}`) && isIP(host) === 0);

/** Directory of a path (RFC 6265, 5.1.4) */
const defaultPath = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));

const isPathMatch = (path: string, prefix: string): boolean =>
  path === prefix || (path.startsWith(prefix) && (prefix.endsWith('/') || path[prefix.length] === '/'));

const readExpiry = (attributes: ReadonlyMap<string, string>, nowMs: number): number => {
  const age = attributes.get('max-age');
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0 ? 0 : nowMs + Number(age) * 1000;
  const expires = Date.parse(attributes.get('expires') ?? '');
  return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires;
};

/** Returns the cookie of a `set-cookie` header; undefined if it has no name or is for another domain. */
const parseCookie = (header: string, url: URL, nowMs: number): Cookie | undefined => {
  const [pair = '', ...rest] = header.slice(0, maxCookieLength).split(';');
  const equals = pair.indexOf('=');
  if (equals < 0) return undefined;
  const [name, value] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  const attributes = new Map(
    rest.map((text): [string, string] => {
      const [key = '', ...parts] = text.split('=');
      return [key.trim().toLowerCase(), parts.join('=').trim()];
    }),
  );
  const host = removeBrackets(url.hostname);
  const domain = (attributes.get('domain') ?? '').toLowerCase().replace(/^\./, '');
  const isHostOnly = domain === '' || domain === host;
  // Without a dot it is a top-level domain, with hosts of anybody.
  if (!isHostOnly && !(domain.includes('.') && isSubdomain(host, domain))) return undefined;
  const path = attributes.get('path') ?? '';
  return {
    name,
    value,
    domain: isHostOnly ? host : domain,
    isHostOnly: domain === '',
    path: path.startsWith('/') ? path : defaultPath(url.pathname),
    isSecure: attributes.has('secure'),
    expiresAtMs: readExpiry(attributes, nowMs),
  };
};

/** A header sent by the check wins over stored cookies of the same name. */
const listNames = (header: string): ReadonlySet<string> =>
  new Set(header.split(';').map((pair) => (pair.split('=')[0] ?? '').trim()));

export class Cookies {
  readonly #cookies = new Map<string, Cookie>();

  /** Stores the cookies of a response. */
  store(url: URL, headers: readonly string[], nowMs = Date.now()): void {
    for (const header of headers) {
      const cookie = parseCookie(header, url, nowMs);
      if (cookie === undefined) continue;
      const key = JSON.stringify([cookie.domain, cookie.path, cookie.name]);
      if (cookie.expiresAtMs <= nowMs) this.#cookies.delete(key);
      else if (this.#cookies.has(key) || this.#cookies.size < maxCookies) this.#cookies.set(key, cookie);
    }
  }

  /** Returns the value of the header `cookie` of a request, after the cookies in `own`; empty for none. */
  header(url: URL, own = '', nowMs = Date.now()): string {
    const host = removeBrackets(url.hostname);
    const ownNames = listNames(own);
    const sent = [...this.#cookies.values()]
      .filter(
        (cookie) =>
          (cookie.isHostOnly ? host === cookie.domain : isSubdomain(host, cookie.domain)) &&
          isPathMatch(url.pathname, cookie.path) &&
          (!cookie.isSecure || url.protocol === 'https:') &&
          cookie.expiresAtMs > nowMs &&
          !ownNames.has(cookie.name),
      )
      .toSorted((left, right) => right.path.length - left.path.length);
    return [own, ...sent.map(({ name, value }) => `${name}=${value}`)].filter((text) => text !== '').join('; ');
  }
}
