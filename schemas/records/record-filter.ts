/**
 * Prefilters of consumers of log records, which are evaluated together: a hundred filters cost little more than one. A
 * consumer spends no time on records that its filter rejects.
 */
import { ByteTexts } from '../byte-texts.ts';
import { NameSet } from './attributes.ts';
import type { DecodedMessage } from './decoded-request.ts';
import type { LogRecord } from './log-record.ts';
import { getSeverityNumber } from './severity.ts';

/** A prefilter. A record matches if one of the conditions holds. */
export interface RecordFilter {
  /** The record has at least this severity, or no known severity. */
  readonly severity?: number;
  /** The record has an attribute with one of these names. */
  readonly attributes?: readonly string[];
  /** The body contains one of these texts, of three characters or more. */
  readonly body?: readonly string[];
}

/** Returns whether the record with an ordinal matches. */
export type IsMatch = (ordinal: number) => boolean;

/** A compiled prefilter. */
export interface CompiledFilter<Item> {
  /** Returns the predicate for the items of a message. */
  of(opened: DecodedMessage<Item>): IsMatch;
}

/** Match bits of one message: a bit per filter for each record */
interface MatchBits {
  readonly bits: Int32Array;
  readonly perRecord: number;
}

/** Maps names or texts to the numbers of the filters that require them. */
const addFilterNumbers = (to: Map<string, number[]>, keys: readonly string[], filterNumber: number): void => {
  for (const key of keys) to.set(key, [...(to.get(key) ?? []), filterNumber]);
};

/** All prefilters of a source, evaluated together. */
export class RecordFilters {
  /** Filters with names or texts; a severity is read on demand */
  readonly #textFilters: RecordFilter[] = [];
  #evaluate: ((opened: DecodedMessage<LogRecord>) => MatchBits) | undefined;
  #matchBits = new WeakMap<DecodedMessage<LogRecord>, MatchBits>();

  add(filter: RecordFilter): CompiledFilter<LogRecord> {
    const { severity, attributes = [], body = [] } = filter;
    const isSevere = severity === undefined ? () => () => false : createSeverityFilter(severity);
    if (attributes.length + body.length === 0) return { of: isSevere };
    const number = this.#textFilters.push(filter) - 1;
    this.#evaluate = undefined;
    this.#matchBits = new WeakMap();
    const [word, bit] = [number >>> 5, 1 << (number & 31)];
    return {
      of: (opened) => {
        const { bits, perRecord } = this.#getMatchBits(opened);
        const severe = isSevere(opened);
        return (ordinal) => ((bits[ordinal * perRecord + word] as number) & bit) !== 0 || severe(ordinal);
      },
    };
  }

  #getMatchBits(opened: DecodedMessage<LogRecord>): MatchBits {
    const known = this.#matchBits.get(opened);
    if (known !== undefined) return known;
    this.#evaluate ??= createEvaluator(this.#textFilters);
    const matchBits = this.#evaluate(opened);
    this.#matchBits.set(opened, matchBits);
    return matchBits;
  }
}

/** Matches records with at least a severity, and those without a known one. */
const createSeverityFilter =
  (minSeverity: number) =>
  (opened: DecodedMessage<LogRecord>): IsMatch =>
  (ordinal) => {
    const severity = getSeverityNumber(opened.getItem(ordinal));
    return severity === 0 || severity >= minSeverity;
  };

/** Returns a function that evaluates all filters with names or texts on a message, scanning each record once. */
const createEvaluator = (all: readonly RecordFilter[]): ((opened: DecodedMessage<LogRecord>) => MatchBits) => {
  const perRecord = Math.ceil(all.length / 32);
  const byAttribute = new Map<string, number[]>();
  const byText = new Map<string, number[]>();
  for (const [filterNumber, { attributes = [], body = [] }] of all.entries()) {
    addFilterNumbers(byAttribute, attributes, filterNumber);
    addFilterNumbers(byText, body, filterNumber);
  }
  const texts = [...byText.values()];
  const index = new ByteTexts(byText.keys());
  let bits = new Int32Array(0);
  let recordStart = 0;
  const mark = (filterNumber: number): void => {
    const word = recordStart + (filterNumber >>> 5);
    bits[word] = (bits[word] as number) | (1 << (filterNumber & 31));
  };
  const markAll = (filterNumbers: readonly number[] | undefined): void => {
    if (filterNumbers !== undefined)
      for (let position = 0; position < filterNumbers.length; position++) mark(filterNumbers[position] as number);
  };
  const names = new NameSet(byAttribute.keys());
  const markName = (name: string): void => markAll(byAttribute.get(name));
  const markText = (id: number): void => markAll(texts[id]);
  return (opened) => {
    bits = new Int32Array(opened.count * perRecord);
    for (let ordinal = 0; ordinal < opened.count; ordinal++) {
      recordStart = ordinal * perRecord;
      const record = opened.getItem(ordinal);
      if (byAttribute.size > 0) record.attributesAmong(names, markName);
      if (texts.length > 0) record.findTextsInBody(index, markText);
    }
    return { bits, perRecord };
  };
};
