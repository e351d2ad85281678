/**
 * What consumers of log records want of them, in a form that is checked for all of them at once: a hundred wants cost little more than
 * one. A record that a consumer does not want costs it nothing.
 */
import { ByteTexts } from '../byte-texts.ts';
import { NameSet } from './attributes.ts';
import type { Opened } from './decoded-request.ts';
import type { LogRecord } from './log-record.ts';
import { severityNumberOf } from './severity.ts';

/** A record is wanted where one of these holds. */
export interface RecordFilter {
  /** It is of this severity or a higher one, or says none that is known. */
  readonly severity?: number;
  /** It has an attribute of one of these names. */
  readonly attributes?: readonly string[];
  /** Its body holds one of these texts, of three characters or more. */
  readonly body?: readonly string[];
}

/** Whether the record of an ordinal is wanted. */
export type IsMatch = (ordinal: number) => boolean;

/** A want that was taken up. */
export interface CompiledFilter<Item> {
  /** Tells which items of a message are wanted. */
  of(opened: Opened<Item>): IsMatch;
}

/** Records of one message: a bit of each want for each record. */
interface Marks {
  readonly bits: Int32Array;
  readonly perRecord: number;
}

/** The numbers of the wants that want a name or a text. */
const add = (to: Map<string, number[]>, keys: readonly string[], filterNumber: number): void => {
  for (const key of keys) to.set(key, [...(to.get(key) ?? []), filterNumber]);
};

/** All wants of a source, checked together. */
export class RecordFilters {
  /** Those that want names or texts: a severity is read where it is asked for. */
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

/** Records of a severity or a higher one, and those that say none that is known. */
const severeIn =
  (minSeverity: number) =>
  (opened: Opened<LogRecord>): IsMatch =>
  (ordinal) => {
    const severity = severityNumberOf(opened.at(ordinal));
    return severity === 0 || severity >= minSeverity;
  };

/** Marks records by all wants of names and texts, looking through each record once. */
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
