/** Records that no rule can match, told from their bytes: nearly all are, and making events of them is most of what rules cost. */
import type { Glance } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { SigmaEvent } from './event.ts';
import type { EventKind } from './log-sources.ts';
import { lowered } from './pattern.ts';
import { resourceOf } from './record-event.ts';
import type { Met } from './rule-index.ts';
import type { Interest, RuleSet } from './rule-set.ts';

const mostNames = 4_096;
const [tab, carriageReturn, space, bracket, brace, backslash, equals] = [9, 13, 32, 91, 123, 92, 61];

/** Letters, digits, `_`, `-` and `.`: what keys in texts are made of. */
const isOfKey = Uint8Array.from({ length: 128 }, (_, byte) => (/[\w.-]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Where the first byte lies that is no space. */
const pastSpaces = (bytes: Uint8Array, from: number, to: number): number => {
  let at = from;
  for (; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte !== space && (byte < tab || byte > carriageReturn)) break;
  }
  return at;
};

const textAt = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.prototype.latin1Slice.call(bytes, from, to);

/** What a value by a name is to rules: nothing but a text, looked for under some folded names, or more than can be told here. */
type Standing = 'plain' | 'more' | readonly string[];

/** Looks at records of one resource, for what their rules ask of them. */
class Look implements Glance {
  readonly kind: EventKind;
  readonly #interest: Interest;
  readonly #met: Met;
  readonly #standings = new Map<string, Standing>();
  /** Of the value that comes next. */
  #standing: Standing = 'plain';

  /** `resource` is the event of the resource alone. */
  constructor(kind: EventKind, interest: Interest, resource: SigmaEvent) {
    this.kind = kind;
    this.#interest = interest;
    this.#met = interest.index.metBy(resource);
  }

  /** Whether no rule can match a record, as far as its bytes tell. */
  isDull(record: LogRecord): boolean {
    const { index } = this.#interest;
    index.begin(this.#met);
    const isWhole = record.glance(this);
    return !index.isAsked() && isWhole;
  }

  name = (name: string): boolean => {
    this.#standing = this.#standingOf(name);
    return this.#standing !== 'more';
  };

  scalar = (read: () => string): boolean => {
    const { index } = this.#interest;
    if (this.#standing !== 'plain' || index.hasScalarTexts) {
      const low = lowered(read());
      this.#value(low);
      index.scalar(low);
    }
    return true;
  };

  text = (bytes: Uint8Array, from: number, to: number): boolean => {
    if (!this.#interest.index.bytes(bytes, from, to)) return false;
    if (this.#standing !== 'plain') this.#value(lowered(textAt(bytes, from, to)));
    return true;
  };

  /** A body that is JSON, or whose values are written otherwise than they are, is left to the event. */
  body = (bytes: Uint8Array, from: number, to: number): boolean => {
    if (!this.text(bytes, from, to)) return false;
    const first = bytes[pastSpaces(bytes, from, to)];
    return first !== brace && first !== bracket && this.#hasPlainPairs(bytes, from, to);
  };

  /** Whether the keys of `key=value` in a body, if it has any, are of no interest. */
  #hasPlainPairs(bytes: Uint8Array, from: number, to: number): boolean {
    let isEscaped = false;
    let hasKeys = false;
    let key = from;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number;
      if (isOfKey[byte] === 1) continue;
      if (byte === backslash) isEscaped = true;
      if (byte === equals && at > key) {
        hasKeys = true;
        if (this.#standingOf(textAt(bytes, key, at)) !== 'plain') return false;
      }
      key = at + 1;
    }
    return !(isEscaped && hasKeys);
  }

  #value(low: string): void {
    if (typeof this.#standing !== 'string') this.#interest.index.value(this.#standing, low);
  }

  #standingOf(name: string): Standing {
    const known = this.#standings.get(name);
    if (known !== undefined) return known;
    const { index, namesOf, tells } = this.#interest;
    const names = namesOf(name);
    const asked = names.filter((each) => index.asksFor(each));
    const standing = names.some(tells) ? 'more' : asked.length === 0 ? 'plain' : asked;
    if (this.#standings.size >= mostNames) this.#standings.clear();
    this.#standings.set(name, standing);
    return standing;
  }
}

class DullRecords {
  readonly #set: RuleSet;
  /** By the attributes of a resource; null where its records are not to be looked at so. */
  readonly #looks = new WeakMap<LogRecord['resourceAttributes'], Look | null>();

  constructor(set: RuleSet) {
    this.#set = set;
  }

  kindOf(record: LogRecord): EventKind | undefined {
    const { resourceAttributes } = record;
    const known = this.#looks.get(resourceAttributes);
    const look = known === undefined ? (this.#lookOf(record) ?? null) : known;
    if (known === undefined) this.#looks.set(resourceAttributes, look);
    return look?.isDull(record) === true ? look.kind : undefined;
  }

  /** Undefined where the resource alone may make a rule match. */
  #lookOf(record: LogRecord): Look | undefined {
    const event = this.#set.newEvent();
    for (const [key, value] of resourceOf(record)) event.addIfAbsent(key, value);
    const kind = this.#set.kindOf(event);
    const interest = this.#set.interestIn(kind);
    return interest === undefined || interest.isAlways(event) ? undefined : new Look(kind, interest, event);
  }
}

const known = new WeakMap<RuleSet, DullRecords>();

/** The kind of a record that no rule of a set can match, where its bytes tell that; undefined for any other record. */
export const dullKindOf = (set: RuleSet, record: LogRecord): EventKind | undefined => {
  let records = known.get(set);
  if (records === undefined) {
    records = new DullRecords(set);
    known.set(set, records);
  }
  return records.kindOf(record);
};
