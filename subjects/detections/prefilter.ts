/** Records that no rule can match, told from their bytes: nearly all are, and making events of them is most of what rules cost. */
import { isRun } from '../../schemas/is-run.ts';
import { textOf, textOfValue } from '../../schemas/otlp/any-value.ts';
import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { Glance } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { met } from '../../schemas/text-index.ts';
import type { Place } from './event.ts';
import { endsPlain, isOfKey, keyValues } from './key-values.ts';
import type { EventKind } from './log-sources.ts';
import { lowered } from './pattern.ts';
import { resourceOf } from './record-event.ts';
import type { Met } from './rule-index.ts';
import type { Interest, PrefilterResult, RuleSet } from './rule-set.ts';

/** Resources of which is kept what they are to rules, by all their characters; and names of attributes. */
const maxResourceCharacters = 500_000;
const maxNames = 4_096;
const maxKinds = 256;
/** Names are found by some of their bytes first. */
const nameSlots = 512;
const [tab, carriageReturn, space, bracket, brace, backslash, equals] = [9, 13, 32, 91, 123, 92, 61];
const [doubleQuote, singleQuote] = [34, 39];

/** Whether a byte may be of a key in a text; and whether it ends a value there, or may: what is beyond ASCII. */
const ofKey = Uint8Array.from({ length: 256 }, (_, byte) => (isOfKey(byte) ? 1 : 0));
const endsValue = Uint8Array.from({ length: 256 }, (_, byte) => (byte > 127 || endsPlain(byte) ? 1 : 0));

/** The first byte of a text that is no space. */
const firstByte = (bytes: Uint8Array, from: number, to: number): number => {
  let at = from;
  for (; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte !== space && (byte < tab || byte > carriageReturn)) return byte;
  }
  return space;
};

/** Past the value that begins at a position, or farther: where a quoted one ends, or what a character beyond ASCII is, is not asked. */
const pastValue = (bytes: Uint8Array, from: number, to: number): number => {
  const first = bytes[from];
  if (first === doubleQuote || first === singleQuote) return to;
  let at = from;
  while (at < to && endsValue[bytes[at] as number] === 0) at++;
  return (bytes[at] as number) > 127 ? to : at;
};

/** A name that records have for values, and what these are to rules. */
interface Name extends Place {
  readonly bytes: Uint8Array;
  /** More than can be told here. */
  readonly affectsMore: boolean;
  /** Folded names under which whole values are looked for. */
  readonly valueNames: readonly string[];
  /** Texts are looked for in them that are not looked for in all values. */
  readonly hasTexts: boolean;
}

const isName = ({ bytes: nameBytes }: Name, bytes: Uint8Array, from: number, to: number): boolean =>
  nameBytes.length === to - from && isRun(bytes, from, nameBytes);

/** Names of values, with what they are to the rules for one kind of events. */
class Names {
  readonly #interest: Interest;
  readonly #known = new Map<string, Name>();
  readonly #slots: (Name | undefined)[] = Array.from({ length: nameSlots });

  constructor(interest: Interest) {
    this.#interest = interest;
  }

  at(bytes: Uint8Array, from: number, to: number): Name {
    const length = to - from;
    const middle = bytes[from + (length >> 1)] as number;
    const last = bytes[to - 1] as number;
    const slot = (length * 37 + (bytes[from] as number) * 7 + middle * 101 + last * 11) & (nameSlots - 1);
    const known = this.#slots[slot];
    if (known !== undefined && isName(known, bytes, from, to)) return known;
    const name = this.of(textOf(bytes, from, to));
    if (name.bytes.length === length) this.#slots[slot] = name;
    return name;
  }

  of(text: string): Name {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const { index, namesOf, affectsRules } = this.#interest;
    const names = namesOf(text);
    const name = {
      bytes: Buffer.from(text, 'utf8'),
      names,
      affectsMore: names.some(affectsRules),
      valueNames: names.filter((each) => index.hasValuesOf(each)),
      hasTexts: names.some((each) => index.hasTextsOf(each)),
    };
    if (this.#known.size >= maxNames) this.#known.clear();
    this.#known.set(text, name);
    return name;
  }
}

/** Looks at records of one kind, for what rules ask of them. */
class RecordProbe implements Glance {
  readonly interest: Interest;
  readonly #names: Names;
  readonly #ofBody: Name;
  readonly #result: { readonly kind: EventKind; candidates: readonly number[] };
  /** Of the value that comes next. */
  #name: Name;
  /** Which values of a body's `key=value` were looked at last. */
  #scannedFrom = 0;
  #scannedUntil = 0;
  /** Names of the values that were met, where they are asked for. */
  #places: Place[] | undefined;

  constructor(kind: EventKind, interest: Interest) {
    this.#result = { kind, candidates: [] };
    this.interest = interest;
    this.#names = new Names(interest);
    this.#ofBody = this.#names.of('body');
    this.#name = this.#ofBody;
  }

  /** What the bytes of a record of a resource tell; undefined where they do not tell enough. */
  prefilter(record: LogRecord, { met: ofResource }: PrefilteredResource): PrefilterResult | undefined {
    const { index } = this.interest;
    index.begin(ofResource);
    const isWhole = record.glance(this);
    this.#result.candidates = index.end();
    return isWhole ? this.#result : undefined;
  }

  /** Names of the values of a dull record, as its event would have them. */
  placesOf(record: LogRecord, { places }: PrefilteredResource): Place[] {
    const ofAttributes: Place[] = [];
    this.#places = ofAttributes;
    record.glance(this);
    this.#places = undefined;
    const { body } = record;
    const keys = [...(keyValues(body)?.keys() ?? []), ...(body === '' ? [] : ['body'])];
    return [...keys.map((key) => this.#names.of(key)), ...ofAttributes, ...places];
  }

  name(bytes: Uint8Array, from: number, to: number): boolean {
    const name = this.#names.at(bytes, from, to);
    this.#name = name;
    this.#places?.push(name);
    return !name.affectsMore;
  }

  scalar(cursor: WireCursor, end: number): boolean {
    const { valueNames, hasTexts } = this.#name;
    const { index } = this.interest;
    if (valueNames.length === 0 && !hasTexts && !index.hasScalarTexts) return true;
    const low = lowered(textOfValue(cursor, end));
    index.value(valueNames, low);
    index.text(low, hasTexts);
    return true;
  }

  text(bytes: Uint8Array, from: number, to: number): boolean {
    const { valueNames, hasTexts } = this.#name;
    if (hasTexts || this.interest.index.hasTextsAnywhere) this.#scanBytes(bytes, from, to, hasTexts);
    if (valueNames.length > 0) this.interest.index.value(valueNames, lowered(textOf(bytes, from, to)));
    return true;
  }

  readonly body: Omit<Glance, 'name'> = {
    scalar: (cursor, end) => this.#isBody() && this.scalar(cursor, end),
    text: (bytes, from, to) => this.#isBody() && this.#bodyText(bytes, from, to),
  };

  #isBody(): boolean {
    this.#name = this.#ofBody;
    return !this.#ofBody.affectsMore;
  }

  /** A body that is JSON, or whose values are written otherwise than they are, is left to the event. */
  #bodyText(bytes: Uint8Array, from: number, to: number): boolean {
    const { valueNames, hasTexts } = this.#ofBody;
    const { index } = this.interest;
    const first = firstByte(bytes, from, to);
    if (first === brace || first === bracket || first > 127) return false;
    if (valueNames.length > 0) index.value(valueNames, lowered(textOf(bytes, from, to)));
    const kinds = index.body(bytes, from, to, hasTexts);
    this.#scanWide(kinds, bytes, from, to, hasTexts);
    if (met.backslash(kinds)) {
      const body = bytes.subarray(from, to);
      if (body.includes(backslash) && body.includes(equals)) return false;
    }
    this.#scannedUntil = from;
    return index.hasShortKeys ? this.#allPairs(bytes, from, to) : this.#pairs(bytes, from, to);
  }

  /** Looks for texts, all or those that are looked for anywhere. */
  #scanBytes(bytes: Uint8Array, from: number, to: number, forAll: boolean): void {
    this.#scanWide(this.interest.index.bytes(bytes, from, to, forAll), bytes, from, to, forAll);
  }

  /** Lower case of a character beyond ASCII may have letters of it, and texts of rules may have such characters. */
  #scanWide(kinds: number, bytes: Uint8Array, from: number, to: number, forAll: boolean): void {
    if (met.wide(kinds)) this.interest.index.text(lowered(textOf(bytes, from, to)), forAll);
  }

  /** Looks at the `key=value` of a body whose keys were found among its texts; false where values by some keys matter. */
  #pairs(bytes: Uint8Array, from: number, to: number): boolean {
    const { keyEnds } = this.interest.index;
    for (let number = 0; number < keyEnds.length; number++) {
      const at = (keyEnds[number] as number) - 1;
      // A part that names leave out: of which key can't be told from where it ends.
      if (bytes[at] !== equals) return this.#allPairs(bytes, from, to);
      if (!this.#pair(bytes, from, at, to)) return false;
    }
    return true;
  }

  /** The same of all keys. */
  #allPairs(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (bytes[at] === equals && !this.#pair(bytes, from, at, to)) return false;
    return true;
  }

  /** Looks at the key before `=`, if one is there, and the value behind it. */
  #pair(bytes: Uint8Array, from: number, at: number, to: number): boolean {
    let key = at;
    while (key > from && ofKey[bytes[key - 1] as number] === 1) key--;
    if (key === at) return true;
    const name = this.#names.at(bytes, key, at);
    if (name.affectsMore || name.valueNames.length > 0) return false;
    if (name.hasTexts && !this.#ofBody.hasTexts) this.#valueOfPair(bytes, at + 1, to);
    return true;
  }

  /** A value that lies in another one, as of `a=b=c`, was looked at with it. */
  #valueOfPair(bytes: Uint8Array, from: number, to: number): void {
    if (from >= this.#scannedFrom && from < this.#scannedUntil) return;
    this.#scannedFrom = from;
    this.#scannedUntil = pastValue(bytes, from, to);
    this.#scanBytes(bytes, from, this.#scannedUntil, true);
  }
}

/** A resource of which records may be dull. */
interface PrefilteredResource {
  readonly probe: RecordProbe;
  /** What its records have in any case. */
  readonly met: Met;
  /** Of its values. */
  readonly places: readonly Place[];
}

/** The records of one set of rules, one after the other. */
class RecordPrefilter {
  readonly #set: RuleSet;
  readonly #probes = new Map<EventKind, RecordProbe | undefined>();
  /** By their bytes; undefined where the resource alone may make a rule match. */
  readonly #resources = new Map<string, PrefilteredResource | undefined>();
  #characters = 0;
  #wire: string | undefined;
  #resource: PrefilteredResource | undefined;

  constructor(set: RuleSet) {
    this.#set = set;
  }

  prefilter(record: LogRecord): PrefilterResult | undefined {
    const { wire } = record.resourceView;
    if (wire !== this.#wire) this.#resource = this.#resourceOf(record, wire);
    this.#wire = wire;
    const resource = this.#resource;
    return resource?.probe.prefilter(record, resource);
  }

  /** Of the record that was found to be dull just now. */
  placesOf(record: LogRecord): readonly Place[] {
    const resource = this.#resource;
    return resource === undefined ? [] : resource.probe.placesOf(record, resource);
  }

  #resourceOf(record: LogRecord, wire: string): PrefilteredResource | undefined {
    if (this.#resources.has(wire)) return this.#resources.get(wire);
    const made = this.#madeOf(record);
    this.#characters += wire.length;
    if (this.#characters > maxResourceCharacters) {
      this.#resources.clear();
      this.#characters = wire.length;
    }
    this.#resources.set(wire, made);
    return made;
  }

  #madeOf(record: LogRecord): PrefilteredResource | undefined {
    const event = this.#set.newEvent();
    for (const [key, value] of resourceOf(record)) event.addIfAbsent(key, value);
    const probe = this.#probeOf(this.#set.kindOf(event));
    if (probe === undefined || probe.interest.isAlways(event)) return undefined;
    const places = event.leaves.map(({ names }) => ({ names }));
    return { probe, places, met: probe.interest.index.metBy(event) };
  }

  #probeOf(kind: EventKind): RecordProbe | undefined {
    if (this.#probes.has(kind)) return this.#probes.get(kind);
    const interest = this.#set.interestIn(kind);
    const probe = interest === undefined ? undefined : new RecordProbe(kind, interest);
    if (this.#probes.size >= maxKinds) this.#probes.clear();
    this.#probes.set(kind, probe);
    return probe;
  }
}

const known = new WeakMap<RuleSet, RecordPrefilter>();

const recordPrefilterOf = (set: RuleSet): RecordPrefilter => {
  const records = known.get(set) ?? new RecordPrefilter(set);
  known.set(set, records);
  return records;
};

/**
 * What the bytes of a record tell of the event that would be made of it: its kind, and the few rules of a set that it may match. A record
 * without any is dull. Undefined where they do not tell enough. What it answers is valid until it is asked again.
 */
export const prefilterRecord = (set: RuleSet, record: LogRecord): PrefilterResult | undefined =>
  recordPrefilterOf(set).prefilter(record);

/** Names of the values of the record that was found to be dull just now, as its event would have them. */
export const prefilteredPlacesOf = (set: RuleSet, record: LogRecord): readonly Place[] =>
  recordPrefilterOf(set).placesOf(record);
