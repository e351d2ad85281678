/**
 * Prefilters of consumers of log records, which are evaluated together: a hundred filters cost little more than one. A
 * consumer spends no time on records that its filter rejects.
 */
import { ByteTexts } from '../byte-texts.ts';
import { NameSet } from './attributes.ts';
import type { Opened } from './decoded-request.ts';
import type { LogRecord } from './log-record.ts';
import { severityNumberOf } from './severity.ts';

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
  of(opened: Opened<Item>): IsMatch;
}

/** Match bits of one message: a bit per filter for each record */
interface Marks {
  readonly bits: Int32Array;
  readonly perRecord: number;
}

/** Maps names or texts to the numbers of the filters that require them. */
const add = (to: Map<string, number[]>, keys: readonly string[], filterNumber: number): void => {
  for (const key of keys) to.set(key, [...(to.get(key) ?? []), filterNumber]);
};

/** All prefilters of a source, evaluated together. */
export class RecordFilters {
  /** Filters with names or texts; a severity is read on demand */
  readonly #textFilters: RecordFilter[] = [];
  #ready: ((opened: Opened<LogRecord>) => Marks) | undefined;
  #marks = new WeakMap<Opened<LogRecord>, Marks>();

  add(filter: RecordFilter): CompiledFilter<LogRecord> {
    const { severity, attributes = [], body = [] } = filter;
    const isSevere = severity === undefined ? () => () => false : severeIn(severity);
    if (attributes.length + body.length === 0) return { of: isSevere };
    const number = this.#textFilters.push(filter) - 1;
    this.#ready = undefined;
    this.#marks = new WeakMap();
    const [word, bit] = [number >>> 5, 1 << (number & 31)];
    return {
      of: (opened) => {
        const { bits, perRecord } = this.#marksOf(opened);
        const severe = isSevere(opened);
        return (ordinal) => ((bits[ordinal * perRecord + word] as number) & bit) !== 0 || severe(ordinal);
      },
    };
  }

  #marksOf(opened: Opened<LogRecord>): Marks {
    const known = this.#marks.get(opened);
    if (known !== undefined) return known;
    this.#ready ??= marking(this.#textFilters);
    const made = this.#ready(opened);
    this.#marks.set(opened, made);
    return made;
  }
}

/** Matches records with at least a severity, and those without a known one. */
const severeIn =
  (minSeverity: number) =>
  (opened: Opened<LogRecord>): IsMatch =>
  (ordinal) => {
    const severity = severityNumberOf(opened.at(ordinal));
    return severity === 0 || severity >= minSeverity;
  };

/** Marks the records that match filters of names and texts, scanning each record once. */
const marking = (all: readonly RecordFilter[]): ((opened: Opened<LogRecord>) => Marks) => {
  const perRecord = Math.ceil(all.length / 32);
  const byAttribute = new Map<string, number[]>();
  const byText = new Map<string, number[]>();
  for (const [filterNumber, { attributes = [], body = [] }] of all.entries()) {
    add(byAttribute, attributes, filterNumber);
    add(byText, body, filterNumber);
  }
  const texts = [...byText.values()];
  const index = new ByteTexts(byText.keys());
  let bits = new Int32Array(0);
  let at = 0;
  const mark = (filterNumber: number): void => {
    const word = at + (filterNumber >>> 5);
    bits[word] = (bits[word] as number) | (1 << (filterNumber & 31));
  };
  const markAll = (filterNumbers: readonly number[] | undefined): void => {
    if (filterNumbers !== undefined)
      for (let each = 0; each < filterNumbers.length; each++) mark(filterNumbers[each] as number);
  };
  const names = new NameSet(byAttribute.keys());
  const seeName = (name: string): void => markAll(byAttribute.get(name));
  const seeText = (id: number): void => markAll(texts[id]);
  return (opened) => {
    bits = new Int32Array(opened.count * perRecord);
    for (let ordinal = 0; ordinal < opened.count; ordinal++) {
      at = ordinal * perRecord;
      const record = opened.at(ordinal);
      if (byAttribute.size > 0) record.attributesAmong(names, seeName);
      if (texts.length > 0) record.bodyAmong(index, seeText);
    }
    return { bits, perRecord };
  };
};
