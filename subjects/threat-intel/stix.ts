/** Parses indicators from STIX 2.1 (and 2.0) objects: a bundle, a TAXII envelope, a list or a single object */
import type { GivenIndicator, IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { type Fields, fieldsOf, objectsIn, textOf } from './fields.ts';
import { defaultConfidence, givenIndicator, normalised, type ReadIndicators, timeOf } from './indicator.ts';

const typesOfPaths: readonly (readonly [RegExp, IndicatorType])[] = [
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
const comparison = /\s*([a-z0-9-]+:(?:[\w.-]|'[^']*'|\[\*\])+)\s*(?:=|IN)\s*/y;
const text = /'((?:[^'\\]|\\.)*)'\s*/y;
const opening = /\s*\[/y;
const closing = /\]\s*/y;
const listOpening = /\(\s*/y;
const comma = /,\s*/y;
const listClosing = /\)\s*/y;
const or = /OR\s+/y;

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
  consume(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    const match = form.exec(this.#pattern);
    if (match !== null) this.#at = form.lastIndex;
    return match;
  }

  /** Start of the remaining comparison */
  get rest(): string {
    return this.#pattern.slice(this.#at, this.#at + 100).split(']', 1)[0] ?? '';
  }
}

const unquoted = (quoted: string): string => quoted.replaceAll(/\\(.)/g, '$1');

/** Returns the values of one comparison by its path. */
const valuesOf = (path: string, texts: readonly string[]): { type: IndicatorType; value: string }[] | string => {
  const type = typesOfPaths.find(([pattern]) => pattern.test(path))?.[1];
  if (type === undefined) return `${path} cannot be matched`;
  const values: { type: IndicatorType; value: string }[] = [];
  for (const written of texts) {
    // A pattern may contain a network in place of an address.
    const network = type === 'ip' && written.includes('/') ? normalised('network', written) : undefined;
    const value = network ?? normalised(type, written);
    if (value === undefined) return `${JSON.stringify(written)} is no ${type}`;
    values.push({ type: network === undefined ? type : 'network', value });
  }
  return values;
};

interface Value {
  readonly type: IndicatorType;
  readonly value: string;
}

const tooManyValues = `a pattern must have at most ${maxValues} values: split it`;

/** Returns the texts of a comparison: a single one, or those of a list. */
const textsOf = (reader: PatternReader): string[] | string => {
  const notUnderstood = `this comparison is not supported: ${reader.rest}`;
  const isList = reader.consume(listOpening) !== null;
  const texts: string[] = [];
  do {
    const written = reader.consume(text);
    if (written === null) return notUnderstood;
    if (!reader.countValue()) return tooManyValues;
    texts.push(unquoted(written[1] ?? ''));
  } while (isList && reader.consume(comma) !== null);
  return isList && reader.consume(listClosing) === null ? notUnderstood : texts;
};

/** Returns the values in one pair of brackets. */
const valuesOfObservation = (reader: PatternReader): Value[] | string => {
  const found: Value[] = [];
  do {
    const { rest } = reader;
    const path = reader.consume(comparison)?.[1];
    if (path === undefined) return `this comparison is not supported: ${rest}`;
    const texts = textsOf(reader);
    if (typeof texts === 'string') return texts;
    const values = valuesOf(path, texts);
    if (typeof values === 'string') return values;
    found.push(...values);
  } while (reader.consume(or) !== null);
  return reader.consume(closing) === null ? 'comparisons joined with AND cannot be matched by a value' : found;
};

/**
 * Returns the values of a pattern that is a disjunction of equalities. A conjunction cannot be expressed as single
 * values and is rejected.
 */
export const valuesOfPattern = (pattern: string): Value[] | string => {
  if (pattern.length > maxCharacters) return `a pattern must have at most ${maxCharacters} characters: split it`;
  const reader = new PatternReader(pattern.trim());
  const found: Value[] = [];
  do {
    if (reader.consume(opening) === null) break;
    const values = valuesOfObservation(reader);
    if (typeof values === 'string') return values;
    found.push(...values);
    if (reader.isAtEnd) return found;
  } while (reader.consume(or) !== null);
  return 'only alternatives of values are supported: no sequence, repetition or time';
};

const objectsOf = (given: unknown): Fields[] => {
  if (Array.isArray(given)) return objectsIn(given);
  const { objects = [given] } = fieldsOf(given);
  return objectsIn(objects);
};

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, 64) : [];

const moreOf = (stix: Fields): Partial<GivenIndicator> => {
  const { confidence } = stix;
  return {
    name: textOf(stix['name']).slice(0, 256),
    description: textOf(stix['description']).slice(0, 4096),
    tags: [...new Set([...stringsOf(stix['labels']), ...stringsOf(stix['indicator_types'])])],
    ...(typeof confidence === 'number' && { confidence: Math.min(100, Math.max(0, confidence)) }),
    validFrom: timeOf(stix['valid_from']),
    validUntil: timeOf(stix['valid_until']),
    isRevoked: stix['revoked'] === true,
    givenId: textOf(stix['id']).slice(0, 256),
  };
};

/** Returns the indicator objects; of several versions of an object, the latest. */
const latestOf = (given: unknown): Fields[] => {
  const latest = new Map<unknown, Fields>();
  for (const stix of objectsOf(given)) {
    if (stix['type'] !== 'indicator') continue;
    const id = textOf(stix['id']) || stix;
    if (textOf(latest.get(id)?.['modified']) <= textOf(stix['modified'])) latest.set(id, stix);
  }
  return [...latest.values()];
};

/** Parses STIX. `confidence` applies to indicators whose source specifies none. */
export const readStix = (given: unknown, confidence = defaultConfidence): ReadIndicators => {
  const indicators: GivenIndicator[] = [];
  const refused: { at: string; message: string }[] = [];
  for (const stix of latestOf(given)) {
    const at = textOf(stix['id']);
    const { pattern, pattern_type: kind = 'stix' } = stix;
    if (kind !== 'stix' || typeof pattern !== 'string') {
      refused.push({ at, message: `patterns of the type ${textOf(kind)} are not supported` });
      continue;
    }
    const values = valuesOfPattern(pattern);
    if (typeof values === 'string') refused.push({ at, message: values });
    else
      indicators.push(...values.map(({ type, value }) => givenIndicator(type, value, { confidence, ...moreOf(stix) })));
  }
  return { indicators, refused };
};
