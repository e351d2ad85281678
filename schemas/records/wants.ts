/**
 * What consumers of log records want of them, in a form that is checked for all of them at once: a hundred wants cost little more than
 * one. A record that a consumer does not want costs it nothing.
 */
import { ByteTexts } from '../byte-texts.ts';
import { NameSet } from './attributes.ts';
import type { LogRecord } from './log-record.ts';
import type { Opened } from './opened.ts';
import { severityNumberOf } from './severity.ts';

/** A record is wanted where one of these holds. */
export interface Wants {
  /** It is of this severity or a higher one, or says none that is known. */
  readonly severity?: number;
  /** It has an attribute of one of these names. */
  readonly attributes?: readonly string[];
  /** Its body holds one of these texts, of three characters or more. */
  readonly body?: readonly string[];
}

/** Whether the record of an ordinal is wanted. */
export type IsWanted = (ordinal: number) => boolean;

/** A want that was taken up. */
export interface Wanted<Item> {
  /** Tells which items of a message are wanted. */
  of(opened: Opened<Item>): IsWanted;
}

/** Records of one message: a bit of each want for each record. */
interface Marks {
  readonly bits: Int32Array;
  readonly perRecord: number;
}

/** The numbers of the wants that want a name or a text. */
const add = (to: Map<string, number[]>, keys: readonly string[], want: number): void => {
  for (const key of keys) to.set(key, [...(to.get(key) ?? []), want]);
};

/** All wants of a source, checked together. */
export class WantedRecords {
  /** Those that want names or texts: a severity is read where it is asked for. */
  readonly #looking: Wants[] = [];
  #ready: ((opened: Opened<LogRecord>) => Marks) | undefined;
  #marks = new WeakMap<Opened<LogRecord>, Marks>();

  add(wants: Wants): Wanted<LogRecord> {
    const { severity, attributes = [], body = [] } = wants;
    const isSevere = severity === undefined ? () => () => false : severeIn(severity);
    if (attributes.length + body.length === 0) return { of: isSevere };
    const number = this.#looking.push(wants) - 1;
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
    this.#ready ??= marking(this.#looking);
    const made = this.#ready(opened);
    this.#marks.set(opened, made);
    return made;
  }
}

/** Records of a severity or a higher one, and those that say none that is known. */
const severeIn =
  (least: number) =>
  (opened: Opened<LogRecord>): IsWanted =>
  (ordinal) => {
    const severity = severityNumberOf(opened.at(ordinal));
    return severity === 0 || severity >= least;
  };

/** Marks records by all wants of names and texts, looking through each record once. */
const marking = (all: readonly Wants[]): ((opened: Opened<LogRecord>) => Marks) => {
  const perRecord = Math.ceil(all.length / 32);
  const byAttribute = new Map<string, number[]>();
  const byText = new Map<string, number[]>();
  for (const [want, { attributes = [], body = [] }] of all.entries()) {
    add(byAttribute, attributes, want);
    add(byText, body, want);
  }
  const texts = [...byText.values()];
  const index = new ByteTexts(byText.keys());
  let bits = new Int32Array(0);
  let at = 0;
  const mark = (want: number): void => {
    const word = at + (want >>> 5);
    bits[word] = (bits[word] as number) | (1 << (want & 31));
  };
  const markAll = (wants: readonly number[] | undefined): void => {
    if (wants !== undefined) for (let each = 0; each < wants.length; each++) mark(wants[each] as number);
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
