/** Page groups: host and path of a URL, with `*` for ids. */
import { Tokens } from '../../queries/log-patterns/tokens.ts';
import { rumLimits } from '../../schemas/rum.ts';
import { TextCache } from '../errors/text-cache.ts';

const tokens = new Tokens();
const maxSegmentLength = 64;
const maxGroupLength = 512;

/** Segments such as `v2`, which are not ids. */
const versionPattern = /^v\d{1,2}$/i;

const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** Returns a segment of a path, with `*` for each variable as in patterns of logs: numbers, UUIDs, hashes and ids. */
const maskSegment = (segment: string): string => {
  if (segment === '' || versionPattern.test(segment)) return segment;
  if (segment.length > maxSegmentLength) return '*';
  tokens.read(decodeSegment(segment));
  return tokens.maskVariables('*');
};

const groups = new TextCache<{ readonly group: string; readonly host: string }>(500_000);

const parsePage = (url: string): { readonly group: string; readonly host: string } => {
  const parsed = URL.parse(url, 'http://-');
  if (parsed === null) return { group: '', host: '' };
  const host = parsed.host === '-' ? '' : parsed.host;
  const path = parsed.pathname.split('/').map(maskSegment).join('/');
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return { group: `${host}${trimmed}`.slice(0, maxGroupLength).toWellFormed(), host: host.slice(0, rumLimits.name) };
};

/** Returns the page group of a URL; empty without one. */
export const getPageGroup = (url: string): string =>
  url === '' ? '' : groups.getOrCreate(url, () => parsePage(url)).group;

/** Returns the host of a URL, with its port; empty without one. */
export const getHost = (url: string): string => (url === '' ? '' : groups.getOrCreate(url, () => parsePage(url)).host);

const getSite = (host: string): string => {
  const labels = host.replace(/:\d+$/, '').split('.');
  const isShortSecondLevel = (labels.at(-2) ?? '').length <= 3 && labels.length > 2;
  return labels.slice(isShortSecondLevel ? -3 : -2).join('.');
};

/**
 * Returns whether a host belongs to the site of a page: both have the same domain, such as `cdn.example.com` and
 * `www.example.com`. `null` if one of them is unknown.
 */
export const isSameSite = (pageHost: string, host: string): boolean | null =>
  pageHost === '' || host === '' ? null : getSite(pageHost) === getSite(host);
