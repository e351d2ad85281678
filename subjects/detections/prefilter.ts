/**
 * Rejects records that no rule can match, based on their bytes. Most records are rejected, and the conversion of
 * records to events is the largest cost of rules.
 */
import { equalsAt } from '../../schemas/is-run.ts';
import { decodeText, readValueText } from '../../schemas/otlp/any-value.ts';
import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { AttributeVisitor } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { scanResult } from '../../schemas/text-index.ts';
import type { ValuePosition } from './event.ts';
import { endsUnquotedValue, isKeyCharacter, parseKeyValues } from './key-values.ts';
import type { EventKind } from './log-sources.ts';
import { foldCase } from './pattern.ts';
import { resourceValues } from './record-event.ts';
import type { FoundLiterals } from './rule-index.ts';
import type { PrefilterConditions, PrefilterResult, RuleSet } from './rule-set.ts';

/** Maximum number of cached characters of resources with their prefilter results, and of attribute names */
const maxResourceCharacters = 500_000;
const maxNames = 4_096;
const maxKinds = 256;
/** Number of slots of the hash table of names, which is indexed by some of their bytes */
const nameSlots = 512;
const [tab, carriageReturn, space, bracket, brace, backslash, equals] = [9, 13, 32, 91, 123, 92, 61];
const [doubleQuote, singleQuote] = [34, 39];

/** Whether a byte may occur in a key, and whether it ends or may end a value; non-ASCII bytes may end one */
const keyBytes = Uint8Array.from({ length: 256 }, (_, byte) => (isKeyCharacter(byte) ? 1 : 0));
const endsValue = Uint8Array.from({ length: 256 }, (_, byte) => (byte > 127 || endsUnquotedValue(byte) ? 1 : 0));

/** Returns the first byte of a text that is not a space; a space if there is none. */
const firstNonSpaceByte = (bytes: Uint8Array, from: number, to: number): number => {
  let at = from;
  for (; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte !== space && (byte < tab || byte > carriageReturn)) return byte;
  }
  return space;
};

/**
 * Returns a position at or after the end of the value that begins at a position. Ends of quoted values and non-ASCII
 * characters are not examined.
 */
const skipValue = (bytes: Uint8Array, from: number, to: number): number => {
  const first = bytes[from];
  if (first === doubleQuote || first === singleQuote) return to;
  let at = from;
  while (at < to && endsValue[bytes[at] as number] === 0) at++;
  return (bytes[at] as number) > 127 ? to : at;
};

/** A name of values in records, and the relevance of those values to rules */
interface RelevantName extends ValuePosition {
  readonly bytes: Uint8Array;
  /** Whether the value affects rules in a way that the prefilter cannot decide */
  readonly affectsMore: boolean;
  /** Folded names under which exact values are looked up */
  readonly valueNames: readonly string[];
  /** Whether texts are searched in these values that are not searched in all values */
  readonly hasTexts: boolean;
}

const isName = ({ bytes: nameBytes }: RelevantName, bytes: Uint8Array, from: number, to: number): boolean =>
  nameBytes.length === to - from && equalsAt(bytes, from, nameBytes);

/** Names of values with their relevance to the rules for one kind of event */
class RelevantNames {
  readonly #interest: PrefilterConditions;
  readonly #known = new Map<string, RelevantName>();
  readonly #slots: (RelevantName | undefined)[] = Array.from({ length: nameSlots });

  constructor(interest: PrefilterConditions) {
    this.#interest = interest;
  }

  at(bytes: Uint8Array, from: number, to: number): RelevantName {
    const length = to - from;
    const middle = bytes[from + (length >> 1)] as number;
    const last = bytes[to - 1] as number;
    const slot = (length * 37 + (bytes[from] as number) * 7 + middle * 101 + last * 11) & (nameSlots - 1);
    const known = this.#slots[slot];
    if (known !== undefined && isName(known, bytes, from, to)) return known;
    const name = this.of(decodeText(bytes, from, to));
    if (name.bytes.length === length) this.#slots[slot] = name;
    return name;
  }

  of(text: string): RelevantName {
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

/** Scans records of one kind for values and texts that the rules require */
class RecordScanner implements AttributeVisitor {
  readonly interest: PrefilterConditions;
  readonly #names: RelevantNames;
  readonly #ofBody: RelevantName;
  readonly #result: { readonly kind: EventKind; candidates: readonly number[] };
  /** Name of the next value */
  #name: RelevantName;
  /** Range of the `key=value` values that were scanned last */
  #scannedFrom = 0;
  #scannedUntil = 0;
  /** Positions of the values found, if they are requested */
  #places: ValuePosition[] | undefined;

  constructor(kind: EventKind, interest: PrefilterConditions) {
    this.#result = { kind, candidates: [] };
    this.interest = interest;
    this.#names = new RelevantNames(interest);
    this.#ofBody = this.#names.of('body');
    this.#name = this.#ofBody;
  }

  /** Returns the prefilter result of a record of a resource; `undefined` if the bytes are not sufficient to decide. */
  prefilter(record: LogRecord, { met: ofResource }: PrefilteredResource): PrefilterResult | undefined {
    const { index } = this.interest;
    index.begin(ofResource);
    const isWhole = record.visit(this);
    this.#result.candidates = index.end();
    return isWhole ? this.#result : undefined;
  }

  /** Returns the positions of the values of a rejected record, as its event would have them. */
  findPositions(record: LogRecord, { places }: PrefilteredResource): ValuePosition[] {
    const ofAttributes: ValuePosition[] = [];
    this.#places = ofAttributes;
    record.visit(this);
    this.#places = undefined;
    const { body } = record;
    const keys = [...(parseKeyValues(body)?.keys() ?? []), ...(body === '' ? [] : ['body'])];
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
    const low = foldCase(readValueText(cursor, end));
    index.value(valueNames, low);
    index.text(low, hasTexts);
    return true;
  }

  text(bytes: Uint8Array, from: number, to: number): boolean {
    const { valueNames, hasTexts } = this.#name;
    if (hasTexts || this.interest.index.hasTextsAnywhere) this.#scanBytes(bytes, from, to, hasTexts);
    if (valueNames.length > 0) this.interest.index.value(valueNames, foldCase(decodeText(bytes, from, to)));
    return true;
  }

  readonly body: Omit<AttributeVisitor, 'name'> = {
    scalar: (cursor, end) => this.#isBody() && this.scalar(cursor, end),
    text: (bytes, from, to) => this.#isBody() && this.#bodyText(bytes, from, to),
  };

  #isBody(): boolean {
    this.#name = this.#ofBody;
    return !this.#ofBody.affectsMore;
  }

  /** Scans a body. Returns false for JSON and escaped values, which require the event. */
  #bodyText(bytes: Uint8Array, from: number, to: number): boolean {
    const { valueNames, hasTexts } = this.#ofBody;
    const { index } = this.interest;
    const first = firstNonSpaceByte(bytes, from, to);
    if (first === brace || first === bracket || first > 127) return false;
    if (valueNames.length > 0) index.value(valueNames, foldCase(decodeText(bytes, from, to)));
    const kinds = index.body(bytes, from, to, hasTexts);
    this.#scanWide(kinds, bytes, from, to, hasTexts);
    if (scanResult.backslash(kinds)) {
      const body = bytes.subarray(from, to);
      if (body.includes(backslash) && body.includes(equals)) return false;
    }
    this.#scannedUntil = from;
    return index.hasShortKeys ? this.#allPairs(bytes, from, to) : this.#pairs(bytes, from, to);
  }

  /** Searches for texts: either all of them or those that apply to any value. */
  #scanBytes(bytes: Uint8Array, from: number, to: number, forAll: boolean): void {
    this.#scanWide(this.interest.index.bytes(bytes, from, to, forAll), bytes, from, to, forAll);
  }

  /**
   * Handles non-ASCII characters: their lower case may contain ASCII letters, and texts of rules may contain non-ASCII
   * characters.
   */
  #scanWide(kinds: number, bytes: Uint8Array, from: number, to: number, forAll: boolean): void {
    if (scanResult.wide(kinds)) this.interest.index.text(foldCase(decodeText(bytes, from, to)), forAll);
  }

  /**
   * Scans the `key=value` pairs of a body whose keys were found among its texts. Returns false if the values of some
   * keys matter.
   */
  #pairs(bytes: Uint8Array, from: number, to: number): boolean {
    const { keyEnds } = this.interest.index;
    for (let number = 0; number < keyEnds.length; number++) {
      const at = (keyEnds[number] as number) - 1;
      // The key ends with a segment that names omit, so its start cannot be derived from its end.
      if (bytes[at] !== equals) return this.#allPairs(bytes, from, to);
      if (!this.#pair(bytes, from, at, to)) return false;
    }
    return true;
  }

  /** Scans all `key=value` pairs, for all keys. */
  #allPairs(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (bytes[at] === equals && !this.#pair(bytes, from, at, to)) return false;
    return true;
  }

  /** Scans the key before `=`, if there is one, and the value after it. */
  #pair(bytes: Uint8Array, from: number, at: number, to: number): boolean {
    let key = at;
    while (key > from && keyBytes[bytes[key - 1] as number] === 1) key--;
    if (key === at) return true;
    const name = this.#names.at(bytes, key, at);
    if (name.affectsMore || name.valueNames.length > 0) return false;
    if (name.hasTexts && !this.#ofBody.hasTexts) this.#scanPairValue(bytes, at + 1, to);
    return true;
  }

  /** Scans the value of a pair. A value inside another one, as in `a=b=c`, was already scanned with the outer value. */
  #scanPairValue(bytes: Uint8Array, from: number, to: number): void {
    if (from >= this.#scannedFrom && from < this.#scannedUntil) return;
    this.#scannedFrom = from;
    this.#scannedUntil = skipValue(bytes, from, to);
    this.#scanBytes(bytes, from, this.#scannedUntil, true);
  }
}

/** A resource whose records the prefilter may reject */
interface PrefilteredResource {
  readonly probe: RecordScanner;
  /** Literals that all records of the resource contain */
  readonly met: FoundLiterals;
  /** Positions of the resource's values */
  readonly places: readonly ValuePosition[];
}

/** Prefilter of the records of one rule set, processed in sequence */
class RecordPrefilter {
  readonly #set: RuleSet;
  readonly #probes = new Map<EventKind, RecordScanner | undefined>();
  /** Resources by their bytes; `undefined` if the resource alone may make a rule match */
  readonly #resources = new Map<string, PrefilteredResource | undefined>();
  #characters = 0;
  #wire: string | undefined;
  #resource: PrefilteredResource | undefined;

  constructor(set: RuleSet) {
    this.#set = set;
  }

  prefilter(record: LogRecord): PrefilterResult | undefined {
    const { wire } = record.resourceView;
    if (wire !== this.#wire) this.#resource = this.#findResource(record, wire);
    this.#wire = wire;
    const resource = this.#resource;
    return resource?.probe.prefilter(record, resource);
  }

  /** Returns the positions of the record that was just rejected. */
  placesOf(record: LogRecord): readonly ValuePosition[] {
    const resource = this.#resource;
    return resource === undefined ? [] : resource.probe.findPositions(record, resource);
  }

  #findResource(record: LogRecord, wire: string): PrefilteredResource | undefined {
    if (this.#resources.has(wire)) return this.#resources.get(wire);
    const made = this.#createResource(record);
    this.#characters += wire.length;
    if (this.#characters > maxResourceCharacters) {
      this.#resources.clear();
      this.#characters = wire.length;
    }
    this.#resources.set(wire, made);
    return made;
  }

  #createResource(record: LogRecord): PrefilteredResource | undefined {
    const event = this.#set.newEvent();
    for (const [key, value] of resourceValues(record)) event.addIfAbsent(key, value);
    const probe = this.#probeOf(this.#set.kindOf(event));
    if (probe === undefined || probe.interest.isAlways(event)) return undefined;
    const places = event.leaves.map(({ names }) => ({ names }));
    return { probe, places, met: probe.interest.index.findLiterals(event) };
  }

  #probeOf(kind: EventKind): RecordScanner | undefined {
    if (this.#probes.has(kind)) return this.#probes.get(kind);
    const interest = this.#set.prefilterConditions(kind);
    const probe = interest === undefined ? undefined : new RecordScanner(kind, interest);
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
 * Prefilters a record by its bytes: returns the kind of its event and the few rules of the set that may match it. A
 * record without candidates is rejected. Returns `undefined` if the bytes are not sufficient to decide. The result is
 * valid until the next call.
 */
export const prefilterRecord = (set: RuleSet, record: LogRecord): PrefilterResult | undefined =>
  recordPrefilterOf(set).prefilter(record);

/** Returns the positions of the values of the record that was just rejected, as its event would have them. */
export const prefilteredPlacesOf = (set: RuleSet, record: LogRecord): readonly ValuePosition[] =>
  recordPrefilterOf(set).placesOf(record);
