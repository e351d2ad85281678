/** Parses indicators from STIX 2.1 (and 2.0) objects: a bundle, a TAXII envelope, a list or a single object */

import type { Fields } from '../../runtime/fields.ts';
import { toFields } from '../../runtime/fields.ts';
import type { IndicatorType, SourceIndicator } from '../../schemas/resources/threat-intel.ts';
import { toTextOrEmpty } from '../../schemas/text.ts';
import { toObjects } from './fields.ts';
import {
  createIndicator,
  defaultConfidence,
  normalizeValue,
  type ParsedIndicators,
  parseFeedTime,
} from './indicator.ts';

const typesByPath: readonly (readonly [RegExp, IndicatorType])[] = [
  [/^(?:ipv4-addr|ipv6-addr):value$/, 'ip'],
  [/^network-traffic:(?:src|dst)_ref\.value$/, 'ip'],
  [/^domain-name:value$/, 'domain'],
  [/^url:value$/, 'url'],
  [/^(?:email-addr:value|email-message:(?:from|sender)_ref\.value)$/, 'email'],
  [/^(?:file|artifact):hashes\.'?MD5'?$/i, 'md5'],
  [/^(?:file|artifact):hashes\.'?SHA-?1'?$/i, 'sha1'],
  [/^(?:file|artifact):hashes\.'?SHA-?256'?$/i, 'sha256'],
  [/^(?:file|artifact):hashes\.'?SHA-?512'?$/i, 'sha512'],
  [/^file:name$/, 'file-name'],
];

/** Maximum number of characters of a pattern, and of values in it */
const maxCharacters = 1_000_000;
const maxValues = 1000;

/** A path with its operator */
const comparisonPattern = /\s*([a-z0-9-]+:(?:[\w.-]|'[^']*'|\[\*\])+)\s*(?:=|IN)\s*/y;
const textPattern = /'((?:[^'\\]|\\.)*)'\s*/y;
const openingPattern = /\s*\[/y;
const closingPattern = /\]\s*/y;
const listStartPattern = /\(\s*/y;
const commaPattern = /,\s*/y;
const listEndPattern = /\)\s*/y;
const orPattern = /OR\s+/y;

/** Parses a pattern from its start */
class PatternReader {
  readonly #pattern: string;
  #at = 0;
  #values = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  /** Counts a value; returns false if the pattern exceeds the limit. */
  countValue(): boolean {
    this.#values++;
    return this.#values <= maxValues;
  }

  /** Returns the next token if it matches the expression. */
  consume(tokenPattern: RegExp): RegExpExecArray | null {
    tokenPattern.lastIndex = this.#at;
    const match = tokenPattern.exec(this.#pattern);
    if (match !== null) this.#at = tokenPattern.lastIndex;
    return match;
  }

  /** Start of the remaining comparison */
  get rest(): string {
    return this.#pattern.slice(this.#at, this.#at + 100).split(']', 1)[0] ?? '';
  }
}

const unescapeText = (quoted: string): string => quoted.replaceAll(/\\(.)/g, '$1');

/** Returns the values of one comparison by its path. */
const toValues = (path: string, texts: readonly string[]): { type: IndicatorType; value: string }[] | string => {
  const type = typesByPath.find(([pattern]) => pattern.test(path))?.[1];
  if (type === undefined) return `${path} cannot be matched`;
  const values: { type: IndicatorType; value: string }[] = [];
  for (const text of texts) {
    // A pattern may contain a network in place of an address.
    const network = type === 'ip' && text.includes('/') ? normalizeValue('network', text) : undefined;
    const value = network ?? normalizeValue(type, text);
    if (value === undefined) return `${JSON.stringify(text)} is not a valid ${type}`;
    values.push({ type: network === undefined ? type : 'network', value });
  }
  return values;
};

interface PatternValue {
  readonly type: IndicatorType;
  readonly value: string;
}

const tooManyValues = `a pattern must have at most ${maxValues} values: split it`;

/** Returns the texts of a comparison: a single one, or those of a list. */
const parseTexts = (reader: PatternReader): string[] | string => {
  const problem = `this comparison is not supported: ${reader.rest}`;
  const isList = reader.consume(listStartPattern) !== null;
  const texts: string[] = [];
  do {
    const textMatch = reader.consume(textPattern);
    if (textMatch === null) return problem;
    if (!reader.countValue()) return tooManyValues;
    texts.push(unescapeText(textMatch[1] ?? ''));
  } while (isList && reader.consume(commaPattern) !== null);
  return isList && reader.consume(listEndPattern) === null ? problem : texts;
};

/** Returns the values in one pair of brackets. */
const parseObservation = (reader: PatternReader): PatternValue[] | string => {
  const patternValues: PatternValue[] = [];
  do {
    const { rest } = reader;
    const path = reader.consume(comparisonPattern)?.[1];
    if (path === undefined) return `this comparison is not supported: ${rest}`;
    const texts = parseTexts(reader);
    if (typeof texts === 'string') return texts;
    const values = toValues(path, texts);
    if (typeof values === 'string') return values;
    patternValues.push(...values);
  } while (reader.consume(orPattern) !== null);
  return reader.consume(closingPattern) === null
    ? 'comparisons joined with AND cannot be matched by a value'
    : patternValues;
};

/**
 * Returns the values of a pattern that is a disjunction of equalities. A conjunction cannot be expressed as single
 * values and is rejected.
 */
export const parsePattern = (pattern: string): PatternValue[] | string => {
  if (pattern.length > maxCharacters) return `a pattern must have at most ${maxCharacters} characters: split it`;
  const reader = new PatternReader(pattern.trim());
  const patternValues: PatternValue[] = [];
  do {
    if (reader.consume(openingPattern) === null) break;
    const values = parseObservation(reader);
    if (typeof values === 'string') return values;
    patternValues.push(...values);
    if (reader.isAtEnd) return patternValues;
  } while (reader.consume(orPattern) !== null);
  return 'only alternatives of values are supported: no sequence, repetition or time';
};

const listObjects = (input: unknown): Fields[] => {
  if (Array.isArray(input)) return toObjects(input);
  const { objects = [input] } = toFields(input);
  return toObjects(objects);
};

const listStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, 64) : [];

const parseDetails = (stix: Fields): Partial<SourceIndicator> => {
  const { confidence } = stix;
  return {
    name: toTextOrEmpty(stix['name']).slice(0, 256),
    description: toTextOrEmpty(stix['description']).slice(0, 4096),
    tags: [...new Set([...listStrings(stix['labels']), ...listStrings(stix['indicator_types'])])],
    ...(typeof confidence === 'number' && { confidence: Math.min(100, Math.max(0, confidence)) }),
    validFrom: parseFeedTime(stix['valid_from']),
    validUntil: parseFeedTime(stix['valid_until']),
    isRevoked: stix['revoked'] === true,
    givenId: toTextOrEmpty(stix['id']).slice(0, 256),
  };
};

/** Returns the indicator objects. If an object has several versions, returns the latest. */
const selectLatestIndicators = (input: unknown): Fields[] => {
  const latestById = new Map<unknown, Fields>();
  for (const stix of listObjects(input)) {
    if (stix['type'] !== 'indicator') continue;
    const id = toTextOrEmpty(stix['id']) || stix;
    if (toTextOrEmpty(latestById.get(id)?.['modified']) <= toTextOrEmpty(stix['modified'])) latestById.set(id, stix);
  }
  return [...latestById.values()];
};

/** Parses STIX. `confidence` applies to indicators whose source specifies none. */
export const readStix = (input: unknown, confidence = defaultConfidence): ParsedIndicators => {
  const indicators: SourceIndicator[] = [];
  const rejected: { at: string; message: string }[] = [];
  for (const stix of selectLatestIndicators(input)) {
    const at = toTextOrEmpty(stix['id']);
    const { pattern, pattern_type: patternType = 'stix' } = stix;
    if (patternType !== 'stix' || typeof pattern !== 'string') {
      rejected.push({ at, message: `patterns of the type ${toTextOrEmpty(patternType)} are not supported` });
      continue;
    }
    const values = parsePattern(pattern);
    if (typeof values === 'string') rejected.push({ at, message: values });
    else
      indicators.push(
        ...values.map(({ type, value }) => createIndicator(type, value, { confidence, ...parseDetails(stix) })),
      );
  }
  return { indicators, rejected: rejected };
};
