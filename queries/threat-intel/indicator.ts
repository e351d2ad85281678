/** Indicators of compromise: what each type looks like, how its values are written, and for how long one is believed. */
import ipaddr from 'ipaddr.js';

export const indicatorTypes = [
  'ip',
  'network',
  'domain',
  'url',
  'email',
  'md5',
  'sha1',
  'sha256',
  'sha512',
  'file-name',
] as const;
export type IndicatorType = (typeof indicatorTypes)[number];

/** An indicator as a source gives it. */
export interface GivenIndicator {
  readonly type: IndicatorType;
  /** In the one way in which values of its type are written (`normalised`). */
  readonly value: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** 0 to 100. */
  readonly confidence: number;
  /** ISO-8601. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  /** The source took it back. */
  readonly isRevoked: boolean;
}

/** What a source holds, and what could not be taken. */
export interface ReadIndicators {
  readonly indicators: readonly GivenIndicator[];
  /** `at`: the line, or the id of the object. */
  readonly refused: readonly { readonly at: string; readonly message: string }[];
}

/** Indicators are often written so that nobody opens them by mistake: `hxxp://evil[.]example`. */
const refanged = (text: string): string =>
  text
    .trim()
    .replace(/^h(?:xx|\*\*)p/i, 'http')
    .replaceAll(/\[\.\]|\(\.\)|\{\.\}|\[dot\]/gi, '.')
    .replaceAll(/\[:\]/g, ':')
    .replaceAll(/\[@\]|\[at\]/gi, '@')
    .replaceAll('[://]', '://');

const hashLengths: Readonly<Record<number, IndicatorType>> = { 32: 'md5', 40: 'sha1', 64: 'sha256', 128: 'sha512' };

const domainName =
  /^(?=.{1,253}\.?$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z][a-z0-9-]{0,61}[a-z0-9]|xn--[a-z0-9-]+)\.?$/;

const domainOf = (text: string): string | undefined => {
  const low = text.toLowerCase();
  if (/[@/:?#\s]/.test(low)) return undefined;
  const name = URL.canParse(`http://${low}/`) ? new URL(`http://${low}/`).hostname : low;
  return domainName.test(name) ? name.replace(/\.$/, '') : undefined;
};

const addressOf = (text: string): string | undefined =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.isValid(text))
    ? ipaddr.process(text).toString()
    : undefined;

const networkOf = (text: string): string | undefined => {
  if (!text.includes('/') || !ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const first =
    address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(text) : ipaddr.IPv6.networkAddressFromCIDR(text);
  return `${first.toString()}/${bits}`;
};

const urlOf = (text: string): string | undefined => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.hash = '';
  return url.href;
};

const hashOf = (type: IndicatorType, text: string): string | undefined =>
  /^[0-9a-f]+$/i.test(text) && hashLengths[text.length] === type ? text.toLowerCase() : undefined;

const writers: Readonly<Record<IndicatorType, (text: string) => string | undefined>> = {
  ip: addressOf,
  network: networkOf,
  domain: domainOf,
  url: urlOf,
  email: (text) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? text.toLowerCase() : undefined),
  md5: (text) => hashOf('md5', text),
  sha1: (text) => hashOf('sha1', text),
  sha256: (text) => hashOf('sha256', text),
  sha512: (text) => hashOf('sha512', text),
  'file-name': (text) => (text === '' || text.length > 1024 ? undefined : text.toLowerCase()),
};

/** A value in the one way in which it is stored and compared; undefined where it is no value of the type. */
export const normalised = (type: IndicatorType, text: string): string | undefined => writers[type](refanged(text));

/** The type that a value has by its form alone. A file name has none. */
export const typeOfValue = (text: string): IndicatorType | undefined =>
  indicatorTypes.find((type) => type !== 'file-name' && normalised(type, text) !== undefined);

/** What is usual of an indicator about which a source says no more. */
export const usualConfidence = 50;

export const givenIndicator = (
  type: IndicatorType,
  value: string,
  more: Partial<Omit<GivenIndicator, 'type' | 'value'>> = {},
): GivenIndicator => ({
  ...{ type, value, name: '', description: '', tags: [], confidence: usualConfidence },
  ...{ validFrom: null, validUntil: null, isRevoked: false },
  ...more,
});

/** After so many days an indicator is believed half as much: addresses change hands, hashes stay what they are. */
const halfLifeDays: Readonly<Record<IndicatorType, number>> = {
  ...{ ip: 30, network: 60, url: 30, domain: 90, email: 180, 'file-name': 180 },
  ...{ md5: 720, sha1: 720, sha256: 720, sha512: 720 },
};

/**
 * How much an indicator is believed now, from 0 to 100: its confidence, halved with each half-life of its type since it was last seen
 * in its source; 0 before it is valid, once it no longer is, and where it was revoked.
 */
export const scoreOf = (
  {
    type,
    confidence,
    validFrom,
    validUntil,
    isRevoked,
  }: Omit<GivenIndicator, 'value' | 'name' | 'description' | 'tags'>,
  { seenMs, nowMs }: { readonly seenMs: number; readonly nowMs: number },
): number => {
  if (isRevoked) return 0;
  if (validFrom !== null && Date.parse(validFrom) > nowMs) return 0;
  if (validUntil !== null && Date.parse(validUntil) <= nowMs) return 0;
  const days = Math.max(0, nowMs - seenMs) / 86_400_000;
  return Math.round(confidence * 0.5 ** (days / halfLifeDays[type]));
};
