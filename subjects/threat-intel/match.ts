/** Finds indicators in an event */
import ipaddr from 'ipaddr.js';
import type { IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { getTextBefore, trimTrailing } from '../../schemas/text.ts';
import type { EventValue, SigmaEvent } from '../detections/event.ts';
import { normalizeValue } from './indicator.ts';
import type { IndexedIndicator, IndicatorIndex } from './indicator-index.ts';
import { getObservableKinds, type ObservableKind } from './observables.ts';

/** An indicator, and its location in an event */
export interface Sighting {
  readonly indicator: IndexedIndicator;
  /** Path of the value in the event */
  readonly field: string;
  /** Value as written in the event */
  readonly observed: string;
}

/** Maximum number of characters of a text that are searched */
const maxCharacters = 16_384;
const maxTokens = 200;
const maxLabels = 10;

type ReportMatches = (indicators: readonly IndexedIndicator[], observed: string) => void;

const ipv4Pattern = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/** Returns an IPv4 address as a number, or `undefined`. */
const parseIpv4 = (text: string): number | undefined => {
  const match = ipv4Pattern.exec(text);
  if (match === null) return undefined;
  let address = 0;
  for (let byteNumber = 1; byteNumber <= 4; byteNumber++) {
    const byte = Number(match[byteNumber]);
    if (byte > 255) return undefined;
    address = address * 256 + byte;
  }
  return address;
};
const formatIpv4 = (address: number): string =>
  `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;

const findIpv4 = (index: IndicatorIndex, address: number, observed: string, reportMatches: ReportMatches): void => {
  reportMatches(index.find('ip', formatIpv4(address)), observed);
  for (const length of index.prefixes.ipv4) {
    const mask = length === 0 ? 0 : (-1 << (32 - length)) >>> 0;
    reportMatches(index.find('network', `${formatIpv4((address & mask) >>> 0)}/${length}`), observed);
  }
};

const findIpv6 = (
  index: IndicatorIndex,
  address: ipaddr.IPv6,
  observed: string,
  reportMatches: ReportMatches,
): void => {
  reportMatches(index.find('ip', address.toString()), observed);
  for (const length of index.prefixes.ipv6) {
    const bytes = address.toByteArray().map((byte, byteIndex) => {
      const bits = Math.min(8, Math.max(0, length - 8 * byteIndex));
      return byte & (0xff00 >> bits);
    });
    reportMatches(index.find('network', `${new ipaddr.IPv6(bytes).toString()}/${length}`), observed);
  }
};

/** Finds a domain and its parent domains. */
const findDomain = (index: IndicatorIndex, text: string, observed: string, reportMatches: ReportMatches): void => {
  if (!index.hasType('domain')) return;
  const lowercase = text.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what needs no conversion
  const name = /[^\x00-\x7f]/.test(lowercase) ? normalizeValue('domain', lowercase) : lowercase.replace(/\.$/, '');
  if (name === undefined || name.length > 253) return;
  const labels = name.split('.');
  for (let from = Math.max(0, labels.length - maxLabels); from < labels.length - 1; from++)
    reportMatches(index.find('domain', labels.slice(from).join('.')), observed);
};

/** Finds an address, with or without a port, or a name. */
const findHost = (index: IndicatorIndex, text: string, observed: string, reportMatches: ReportMatches): void => {
  if (text.length < 3) return;
  const colon = text.indexOf(':');
  const isIpv6 = colon >= 0 && (text[0] === '[' || text.indexOf(':', colon + 1) >= 0);
  if (isIpv6) {
    const addressText = getTextBefore(text.replace(/^\[([^\]]*)\].*$/, '$1'), '%');
    if (!ipaddr.IPv6.isValid(addressText)) return;
    const address = ipaddr.process(addressText);
    if (address instanceof ipaddr.IPv6) findIpv6(index, address, observed, reportMatches);
    else findHost(index, address.toString(), observed, reportMatches);
    return;
  }
  const hostText = colon < 0 ? text : text.slice(0, colon);
  const address = parseIpv4(hostText);
  if (address !== undefined) findIpv4(index, address, observed, reportMatches);
  else if (hostText.includes('.')) findDomain(index, hostText, observed, reportMatches);
};

const schemeAndHost = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#]+)/i;

const findUrl = (index: IndicatorIndex, text: string, reportMatches: ReportMatches): void => {
  const host = schemeAndHost.exec(text)?.[1];
  if (host === undefined) return;
  findHost(index, host, text, reportMatches);
  if (!index.hasType('url')) return;
  const url = normalizeValue('url', text);
  if (url === undefined) return;
  reportMatches(index.find('url', url), text);
  const query = url.indexOf('?');
  if (query >= 0) reportMatches(index.find('url', url.slice(0, query)), text);
};

const findEmail = (index: IndicatorIndex, text: string, reportMatches: ReportMatches): void => {
  const lowercase = text.toLowerCase();
  reportMatches(index.find('email', lowercase), text);
  findDomain(index, lowercase.slice(lowercase.lastIndexOf('@') + 1), text, reportMatches);
};

const hashTypes: Readonly<Record<number, IndicatorType>> = { 32: 'md5', 40: 'sha1', 64: 'sha256', 128: 'sha512' };

const findHash = (index: IndicatorIndex, text: string, reportMatches: ReportMatches): void => {
  const type = hashTypes[text.length];
  if (type !== undefined && index.hasType(type)) reportMatches(index.find(type, text.toLowerCase()), text);
};

const findFile = (index: IndicatorIndex, path: string, reportMatches: ReportMatches): void => {
  if (!index.hasType('file-name')) return;
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  reportMatches(index.find('file-name', name.trim().toLowerCase()), path);
};

const urlPattern = /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>|\\^`{}]+/gi;
const tokenPattern = /[\p{L}\p{N}_.:@+-]{3,}/gu;

/** Finds one word of a text. */
const findWord = (index: IndicatorIndex, word: string, reportMatches: ReportMatches): void => {
  if (word.includes('@')) {
    if (/^[^@:]+@[^@:]+$/.test(word)) findEmail(index, word, reportMatches);
    return;
  }
  if (word.includes(':') && !ipaddr.IPv6.isValid(word)) {
    // Each part of `src:192.0.2.7:443`, and the name of `evil.example:443`.
    for (const part of word.split(':')) if (part.length >= 3) findWord(index, part, reportMatches);
    return;
  }
  if (word.includes('.') || word.includes(':')) findHost(index, word, word, reportMatches);
  else if (/^[0-9a-f]+$/i.test(word)) findHash(index, word, reportMatches);
};

const findText = (index: IndicatorIndex, text: string, reportMatches: ReportMatches): void => {
  let count = 0;
  const rest = text.replace(urlPattern, (url) => {
    if (count++ < maxTokens) findUrl(index, trimTrailing(url, '.,;:!?)]'), reportMatches);
    return ' ';
  });
  for (const [word] of rest.matchAll(tokenPattern)) {
    if (count++ >= maxTokens) return;
    findWord(index, trimTrailing(word.replace(/^[.:+-]+/, ''), '.:+-'), reportMatches);
  }
};

const visitParts = (text: string, separator: RegExp, find: (part: string) => void): void => {
  if (!separator.test(text)) find(text);
  else for (const part of text.split(separator, maxTokens)) if (part !== '') find(part);
};

const finders: Readonly<
  Record<ObservableKind, (index: IndicatorIndex, text: string, reportMatches: ReportMatches) => void>
> = {
  host: (index, text, reportMatches) =>
    visitParts(text, /[\s,;]+/, (part) => findHost(index, part, part, reportMatches)),
  url: findUrl,
  email: (index, text, reportMatches) =>
    visitParts(text, /[\s,;<>"]+/, (part) => {
      if (part.includes('@')) findEmail(index, part, reportMatches);
    }),
  hash: (index, text, reportMatches) =>
    visitParts(text, /[\s,;|]+/, (part) => {
      // Sysmon hashes: `SHA256=…,IMPHASH=…`, of which the last is not a file hash.
      if (!/^imphash=/i.test(part)) findHash(index, part.slice(part.indexOf('=') + 1), reportMatches);
    }),
  file: findFile,
  text: findText,
};

const findInValue = (index: IndicatorIndex, { names, text }: EventValue, reportMatches: ReportMatches): void => {
  if (text.length < 3) return;
  for (const kind of getObservableKinds(names)) finders[kind](index, text.slice(0, maxCharacters), reportMatches);
};

/**
 * Returns the indicators in an event without duplicates, each with its first location. Revoked indicators are omitted.
 */
export const matchEvent = (index: IndicatorIndex, event: SigmaEvent): Sighting[] => {
  const sightings: Sighting[] = [];
  for (const leaf of event.leaves)
    findInValue(index, leaf, (indicators, observed) => {
      for (const indicator of indicators) {
        if (indicator.isRevoked) continue;
        const isKnown = sightings.some(
          ({ indicator: { type, value, source } }) =>
            type === indicator.type && value === indicator.value && source === indicator.source,
        );
        if (!isKnown) sightings.push({ indicator, field: leaf.path, observed });
      }
    });
  return sightings;
};
