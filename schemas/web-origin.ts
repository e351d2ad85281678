/** Origins of web pages (RFC 6454), and patterns of them: `https://shop.example.com` and `https://*.example.com`. */

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
const maxOriginLength = 256;
/** A label in place of the wildcard, so that the pattern can be parsed as a URL. */
const placeholder = 'wildcard';

/**
 * Returns whether a text is an origin, or one with a wildcard for all subdomains. Origins are written as browsers send
 * them: in lower case, without a path or a default port. They use https, except on loopback hosts. A wildcard needs a
 * domain of at least two labels.
 */
export const isOriginPattern = (text: string): boolean => {
  const hasWildcard = text.includes('://*.');
  const origin = hasWildcard ? text.replace('*', placeholder) : text;
  if (origin.length > maxOriginLength || origin.includes('*') || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.origin !== origin) return false;
  if (url.protocol !== 'https:') return url.protocol === 'http:' && loopbackHosts.has(url.hostname);
  return !hasWildcard || url.hostname.split('.').length > 2;
};

/** Returns a test of whether an origin, as browsers send it, matches one of the patterns. */
export const createOriginTest = (patterns: readonly string[]): ((origin: string) => boolean) => {
  const exactOrigins = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const subdomainPatterns = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => pattern.split('*') as [prefix: string, suffix: string]);
  return (origin) =>
    exactOrigins.has(origin) ||
    subdomainPatterns.some(
      ([prefix, suffix]) =>
        origin.length > prefix.length + suffix.length && origin.startsWith(prefix) && origin.endsWith(suffix),
    );
};
