/** Indicators of compromise: recognition and normalization of values by type, and decay of confidence */
import ipaddr from 'ipaddr.js';
import { type IndicatorType, indicatorTypes, type SourceIndicator } from '../../schemas/resources/threat-intel.ts';

/** Indicators of a source, and rejected values */
export interface ParsedIndicators {
  readonly indicators: readonly SourceIndicator[];
  /** `at` is the line, or the id of the object */
  readonly rejected: readonly { readonly at: string; readonly message: string }[];
}

/** Reverts the defanged form of indicators: `hxxp://evil[.]example`. */
const refang = (rawText: string): string => {
  const text = rawText.trim();
  if (!/[[({*]|^hxx/i.test(text)) return text;
  return text
    .replace(/^h(?:xx|\*\*)p/i, 'http')
    .replaceAll(/\[\.\]|\(\.\)|\{\.\}|\[dot\]/gi, '.')
    .replaceAll(/\[:\]/g, ':')
    .replaceAll(/\[@\]|\[at\]/gi, '@')
    .replaceAll('[://]', '://');
};

const hashLengths: Readonly<Record<number, IndicatorType>> = { 32: 'md5', 40: 'sha1', 64: 'sha256', 128: 'sha512' };

const domainPattern =
  /^(?=.{1,253}\.?$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z][a-z0-9-]{0,61}[a-z0-9]|xn--[a-z0-9-]+)\.?$/;

const normalizeDomain = (text: string): string | undefined => {
  const lowercase = text.toLowerCase();
  if (/[@/:?#\s]/.test(lowercase)) return undefined;
  if (domainPattern.test(lowercase)) return lowercase.replace(/\.$/, '');
  // Non-ASCII names are converted to the form of DNS.
  const name = URL.canParse(`http://${lowercase}/`) ? new URL(`http://${lowercase}/`).hostname : lowercase;
  return domainPattern.test(name) ? name.replace(/\.$/, '') : undefined;
};

/** Checked first, because parsing an invalid address throws an error, which is slow. */
const ipv4Pattern = /^\d{1,3}(?:\.\d{1,3}){3}$/;

const normalizeAddress = (text: string): string | undefined =>
  (ipv4Pattern.test(text) && ipaddr.IPv4.isValidFourPartDecimal(text)) || (text.includes(':') && ipaddr.isValid(text))
    ? ipaddr.process(text).toString()
    : undefined;

const normalizeNetwork = (text: string): string | undefined => {
  if (!text.includes('/') || !ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const networkAddress =
    address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(text) : ipaddr.IPv6.networkAddressFromCIDR(text);
  return `${networkAddress.toString()}/${bits}`;
};

const normalizeUrl = (text: string): string | undefined => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.hash = '';
  return url.href;
};

const normalizeHash = (type: IndicatorType, text: string): string | undefined =>
  /^[0-9a-f]+$/i.test(text) && hashLengths[text.length] === type ? text.toLowerCase() : undefined;

const normalizers: Readonly<Record<IndicatorType, (text: string) => string | undefined>> = {
  ip: normalizeAddress,
  network: normalizeNetwork,
  domain: normalizeDomain,
  url: normalizeUrl,
  email: (text) => (/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text) ? text.toLowerCase() : undefined),
  md5: (text) => normalizeHash('md5', text),
  sha1: (text) => normalizeHash('sha1', text),
  sha256: (text) => normalizeHash('sha256', text),
  sha512: (text) => normalizeHash('sha512', text),
  'file-name': (text) => (text === '' || text.length > 1024 ? undefined : text.toLowerCase()),
};

/** Maximum number of characters of a value; URLs are the longest */
const maxCharacters = 8192;

/** Returns a value in its normalized form for storage and comparison; `undefined` if it is invalid for the type. */
export const normalizeValue = (type: IndicatorType, text: string): string | undefined =>
  text.length > maxCharacters ? undefined : normalizers[type](refang(text));

/** Returns the type that a value's form implies; `undefined` for a file name. */
export const detectType = (text: string): IndicatorType | undefined =>
  indicatorTypes.find((type) => type !== 'file-name' && normalizeValue(type, text) !== undefined);

/** Default confidence of an indicator whose source specifies none */
export const defaultConfidence = 50;

export const createIndicator = (
  type: IndicatorType,
  value: string,
  details: Partial<Omit<SourceIndicator, 'type' | 'value'>> = {},
): SourceIndicator => ({
  type,
  value,
  name: '',
  description: '',
  tags: [],
  confidence: defaultConfidence,
  validFrom: null,
  validUntil: null,
  isRevoked: false,
  givenId: '',
  ...details,
});

const dayMs = 86_400_000;

/** Half-life of confidence by type, in days: addresses change owners, but hashes never do */
const defaultHalfLifeDays: Readonly<Record<IndicatorType, number>> = {
  ip: 30,
  network: 60,
  url: 30,
  domain: 90,
  email: 180,
  'file-name': 180,
  md5: 720,
  sha1: 720,
  sha256: 720,
  sha512: 720,
};

/** Inputs of a score */
export interface ScoreInputs {
  readonly type: IndicatorType;
  readonly confidence: number;
  /** Time at which the source last reported the indicator */
  readonly seenMs: number;
  /** Milliseconds; 0 if unlimited */
  readonly validFromMs: number;
  readonly validUntilMs: number;
  /** Half-life in days; 0 for the default of the type */
  readonly halfLifeDays: number;
  readonly isRevoked: boolean;
}

/**
 * Returns the score of an indicator at a time, from 0 to 100: its confidence, halved with each half-life since its
 * source last reported it. Returns 0 before and after its validity, and if it was revoked.
 */
export const computeScore = (
  { type, confidence, seenMs, validFromMs, validUntilMs, halfLifeDays: customHalfLifeDays, isRevoked }: ScoreInputs,
  atMs: number,
): number => {
  if (isRevoked || validFromMs > atMs || (validUntilMs !== 0 && validUntilMs <= atMs)) return 0;
  const days = Math.max(0, atMs - seenMs) / dayMs;
  return Math.round(
    confidence * 0.5 ** (days / (customHalfLifeDays === 0 ? defaultHalfLifeDays[type] : customHalfLifeDays)),
  );
};

const toMs = (time: string | null): number => (time === null ? 0 : Date.parse(time));

/** Returns the inputs of a score for a stored indicator. */
export const toScoreInputs = (
  indicator: Omit<SourceIndicator, 'value' | 'name' | 'description' | 'tags' | 'givenId'> & {
    readonly seenAt: string;
    readonly halfLifeDays?: number | null;
  },
): ScoreInputs => ({
  type: indicator.type,
  confidence: indicator.confidence,
  isRevoked: indicator.isRevoked,
  seenMs: Date.parse(indicator.seenAt),
  halfLifeDays: indicator.halfLifeDays ?? 0,
  validFromMs: toMs(indicator.validFrom),
  validUntilMs: toMs(indicator.validUntil),
});

/**
 * Returns a time in ISO-8601 from the formats of feeds; `null` if it is invalid. Feeds write UTC times without a zone,
 * and seconds as numbers.
 */
export const parseFeedTime = (time: unknown): string | null => {
  if (typeof time !== 'string' && typeof time !== 'number') return null;
  const text = String(time).trim();
  if (text === '') return null;
  const isoText = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text) ? `${text.replace(' ', 'T')}Z` : text;
  const ms = /^\d{9,10}$/.test(text) ? Number(text) * 1000 : Date.parse(isoText);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};
