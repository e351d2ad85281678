/**
 * Prefilters of consumers of log records, which are evaluated together: a hundred filters cost little more than one. A
 * consumer spends no time on records that its filter rejects.
 */
import { addToList } from '../add-to-list.ts';
import { ByteTextSearcher } from '../byte-texts.ts';
import { NameSet } from './attributes.ts';
import type { DecodedMessage } from './decoded-request.ts';
import type { LogRecord } from './log-record.ts';
import { getSeverityNumber } from './severity.ts';

/** A prefilter. A record matches if one of the conditions is true. */
export interface RecordFilter {
  /** The record has at least this severity, or no known severity. */
  readonly severity?: number;
  /** The record has an attribute with one of these names. */
  readonly attributes?: readonly string[];
  /** The body contains one of these texts, of three characters or more. */
  readonly body?: readonly string[];
}

/** Returns whether the record with an ordinal matches. */
export type MatchesRecord = (ordinal: number) => boolean;

/** A compiled prefilter. */
export interface CompiledFilter<Item> {
  /** Returns the predicate for the items of a message. */
  createPredicate(message: DecodedMessage<Item>): MatchesRecord;
}

/** Match bits of one message: a bit per filter for each record */
interface MatchBits {
  readonly bits: Int32Array;
  readonly wordsPerRecord: number;
}

/** Maps names or texts to the numbers of the filters that require them. */
const addFilterNumbers = (
  filterNumbers: Map<string, number[]>,
  keys: readonly string[],
  filterNumber: number,
): void => {
  for (const key of keys) addToList(filterNumbers, key, filterNumber);
};

/** All prefilters of a source, evaluated together. */
export class RecordFilters {
  /** Filters with names or texts; a severity is read on demand */
  readonly #textFilters: RecordFilter[] = [];
  #evaluate: ((opened: DecodedMessage<LogRecord>) => MatchBits) | undefined;
  #matchBits = new WeakMap<DecodedMessage<LogRecord>, MatchBits>();

  add(filter: RecordFilter): CompiledFilter<LogRecord> {
    const { severity, attributes = [], body = [] } = filter;
    const createSeverityPredicate = severity === undefined ? () => () => false : createSeverityFilter(severity);
    if (attributes.length + body.length === 0) return { createPredicate: createSeverityPredicate };
    const filterNumber = this.#textFilters.push(filter) - 1;
    this.#evaluate = undefined;
    this.#matchBits = new WeakMap();
    const [word, bit] = [filterNumber >>> 5, 1 << (filterNumber & 31)];
    return {
      createPredicate: (opened) => {
        const { bits, wordsPerRecord } = this.#getMatchBits(opened);
        const matchesSeverity = createSeverityPredicate(opened);
        return (ordinal) => ((bits[ordinal * wordsPerRecord + word] as number) & bit) !== 0 || matchesSeverity(ordinal);
      },
    };
  }

  #getMatchBits(opened: DecodedMessage<LogRecord>): MatchBits {
    const cachedBits = this.#matchBits.get(opened);
    if (cachedBits !== undefined) return cachedBits;
    this.#evaluate ??= createEvaluator(this.#textFilters);
    const matchBits = this.#evaluate(opened);
    this.#matchBits.set(opened, matchBits);
    return matchBits;
  }
}

/** Matches records with at least a severity, and those without a known one. */
const createSeverityFilter =
  (minSeverity: number) =>
  (opened: DecodedMessage<LogRecord>): MatchesRecord =>
  (ordinal) => {
    const severity = getSeverityNumber(opened.getItem(ordinal));
    return severity === 0 || severity >= minSeverity;
  };

/** Returns a function that evaluates all filters with names or texts on a message, scanning each record once. */
const createEvaluator = (filters: readonly RecordFilter[]): ((opened: DecodedMessage<LogRecord>) => MatchBits) => {
  const wordsPerRecord = Math.ceil(filters.length / 32);
  const filtersByAttribute = new Map<string, number[]>();
  const filtersByText = new Map<string, number[]>();
  for (const [filterNumber, { attributes = [], body = [] }] of filters.entries()) {
    addFilterNumbers(filtersByAttribute, attributes, filterNumber);
    addFilterNumbers(filtersByText, body, filterNumber);
  }
  const texts = [...filtersByText.values()];
  const index = new ByteTextSearcher(filtersByText.keys());
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
  const names = new NameSet(filtersByAttribute.keys());
  const markName = (name: string): void => markAll(filtersByAttribute.get(name));
  const markText = (id: number): void => markAll(texts[id]);
  return (opened) => {
    bits = new Int32Array(opened.count * wordsPerRecord);
    for (let ordinal = 0; ordinal < opened.count; ordinal++) {
      recordStart = ordinal * wordsPerRecord;
      const record = opened.getItem(ordinal);
      if (filtersByAttribute.size > 0) record.visitAttributeNames(names, markName);
      if (texts.length > 0) record.findTextsInBody(index, markText);
    }
    return { bits, wordsPerRecord };
  };
};
