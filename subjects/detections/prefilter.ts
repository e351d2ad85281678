/**
 * Rejects records that no rule can match, based on their bytes. Most records are rejected, which saves their
 * conversion to events, the largest cost of rules.
 */
import { equalsAt } from '../../schemas/equal-bytes.ts';
import { decodeText, readValueText } from '../../schemas/otlp/any-value.ts';
import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { AttributeVisitor } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { scanResult } from '../../schemas/text-index.ts';
import type { ValuePosition } from './event.ts';
import { endsUnquotedValue, isKeyCharacter, parseKeyValues } from './key-values.ts';
import type { EventKind } from './log-sources.ts';
import { foldCase } from './pattern.ts';
import { getResourceValues } from './record-event.ts';
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
  let position = from;
  for (; position < to; position++) {
    const byte = bytes[position] as number;
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
  let position = from;
  while (position < to && endsValue[bytes[position] as number] === 0) position++;
  return (bytes[position] as number) > 127 ? to : position;
};

const escapeCharacter = '\u001b';
/** `kinds`: result of the scan of the bytes. */
const hasEscape = (kinds: number, bytes: Uint8Array, from: number, to: number): boolean =>
  scanResult.escape(kinds) && bytes.subarray(from, to).includes(0x1b);

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
  readonly #conditions: PrefilterConditions;
  readonly #known = new Map<string, RelevantName>();
  readonly #slots: (RelevantName | undefined)[] = Array.from({ length: nameSlots });

  constructor(interest: PrefilterConditions) {
    this.#conditions = interest;
  }

  getByBytes(bytes: Uint8Array, from: number, to: number): RelevantName {
    const length = to - from;
    const middle = bytes[from + (length >> 1)] as number;
    const last = bytes[to - 1] as number;
    const slot = (length * 37 + (bytes[from] as number) * 7 + middle * 101 + last * 11) & (nameSlots - 1);
    const existing = this.#slots[slot];
    if (existing !== undefined && isName(existing, bytes, from, to)) return existing;
    const name = this.getByText(decodeText(bytes, from, to));
    if (name.bytes.length === length) this.#slots[slot] = name;
    return name;
  }

  getByText(text: string): RelevantName {
    const existing = this.#known.get(text);
    if (existing !== undefined) return existing;
    const { index, getNames, canAffectRules } = this.#conditions;
    const names = getNames(text);
    const name = {
      bytes: Buffer.from(text, 'utf8'),
      names,
      affectsMore: names.some(canAffectRules),
      valueNames: names.filter((value) => index.hasValuesOf(value)),
      hasTexts: names.some((name) => index.hasTextsOf(name)),
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
  readonly #bodyName: RelevantName;
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
    this.#bodyName = this.#names.getByText('body');
    this.#name = this.#bodyName;
  }

  /** Returns the prefilter result of a record of a resource; `undefined` if the bytes are not sufficient to decide. */
  prefilter(record: LogRecord, { foundLiterals: resourceLiterals }: PrefilteredResource): PrefilterResult | undefined {
    const { index } = this.interest;
    index.beginEvent(resourceLiterals);
    const isDecided = record.visitValues(this);
    this.#result.candidates = index.endEvent();
    return isDecided ? this.#result : undefined;
  }

  /** Returns the positions of the values of a rejected record, as its event would have them. */
  findPositions(record: LogRecord, { valuePositions }: PrefilteredResource): ValuePosition[] {
    const attributePositions: ValuePosition[] = [];
    this.#places = attributePositions;
    record.visitValues(this);
    this.#places = undefined;
    const { body } = record;
    const keys = [...(parseKeyValues(body)?.keys() ?? []), ...(body === '' ? [] : ['body'])];
    return [...keys.map((key) => this.#names.getByText(key)), ...attributePositions, ...valuePositions];
  }

  name(bytes: Uint8Array, from: number, to: number): boolean {
    const name = this.#names.getByBytes(bytes, from, to);
    this.#name = name;
    this.#places?.push(name);
    return !name.affectsMore;
  }

  scalar(cursor: WireCursor, end: number): boolean {
    const { valueNames, hasTexts } = this.#name;
    const { index } = this.interest;
    if (valueNames.length === 0 && !hasTexts && !index.hasScalarTexts) return true;
    const low = foldCase(readValueText(cursor, end));
    index.addValue(valueNames, low);
    index.scanText(low, hasTexts);
    return true;
  }

  text(bytes: Uint8Array, from: number, to: number): boolean {
    const { valueNames, hasTexts } = this.#name;
    const isRead = hasTexts || this.interest.index.hasTextsAnywhere;
    if (isRead && !this.#scanBytes(bytes, from, to, hasTexts)) return false;
    if (valueNames.length === 0) return true;
    const value = decodeText(bytes, from, to);
    this.interest.index.addValue(valueNames, foldCase(value));
    return !value.includes(escapeCharacter);
  }

  readonly body: Omit<AttributeVisitor, 'name'> = {
    scalar: (cursor, end) => this.#isBody() && this.scalar(cursor, end),
    text: (bytes, from, to) => this.#isBody() && this.#scanBodyText(bytes, from, to),
  };

  #isBody(): boolean {
    this.#name = this.#bodyName;
    return !this.#bodyName.affectsMore;
  }

  /** Scans a body. Returns false for JSON, escaped values and escape sequences, which require the event. */
  #scanBodyText(bytes: Uint8Array, from: number, to: number): boolean {
    const { valueNames, hasTexts } = this.#bodyName;
    const { index } = this.interest;
    const first = firstNonSpaceByte(bytes, from, to);
    if (first === brace || first === bracket || first > 127) return false;
    if (valueNames.length > 0) index.addValue(valueNames, foldCase(decodeText(bytes, from, to)));
    const kinds = index.scanBody(bytes, from, to, hasTexts);
    this.#scanWide(kinds, bytes, from, to, hasTexts);
    if (hasEscape(kinds, bytes, from, to)) return false;
    if (scanResult.backslash(kinds)) {
      const body = bytes.subarray(from, to);
      if (body.includes(backslash) && body.includes(equals)) return false;
    }
    this.#scannedUntil = from;
    return index.hasShortKeys ? this.#scanAllPairs(bytes, from, to) : this.#scanPairs(bytes, from, to);
  }

  /**
   * Searches for texts: either all of them or those that apply to any value. Returns false for escape sequences, without
   * which the event has the value.
   */
  #scanBytes(bytes: Uint8Array, from: number, to: number, forAll: boolean): boolean {
    const kinds = this.interest.index.scanBytes(bytes, from, to, forAll);
    this.#scanWide(kinds, bytes, from, to, forAll);
    return !hasEscape(kinds, bytes, from, to);
  }

  /**
   * Handles non-ASCII characters: their lower case may contain ASCII letters, and texts of rules may contain non-ASCII
   * characters.
   */
  #scanWide(kinds: number, bytes: Uint8Array, from: number, to: number, forAll: boolean): void {
    if (scanResult.wide(kinds)) this.interest.index.scanText(foldCase(decodeText(bytes, from, to)), forAll);
  }

  /**
   * Scans the `key=value` pairs of a body whose keys were found among its texts. Returns false if the values of some
   * keys matter.
   */
  #scanPairs(bytes: Uint8Array, from: number, to: number): boolean {
    const { keyEnds } = this.interest.index;
    for (let number = 0; number < keyEnds.length; number++) {
      const position = (keyEnds[number] as number) - 1;
      // The key ends with a segment that names omit, so its start cannot be derived from its end.
      if (bytes[position] !== equals) return this.#scanAllPairs(bytes, from, to);
      if (!this.#scanPair(bytes, from, position, to)) return false;
    }
    return true;
  }

  /** Scans all `key=value` pairs, for all keys. */
  #scanAllPairs(bytes: Uint8Array, from: number, to: number): boolean {
    for (let position = from; position < to; position++)
      if (bytes[position] === equals && !this.#scanPair(bytes, from, position, to)) return false;
    return true;
  }

  /** Scans the key before `=`, if there is one, and the value after it. */
  #scanPair(bytes: Uint8Array, from: number, equalsPosition: number, to: number): boolean {
    let keyStart = equalsPosition;
    while (keyStart > from && keyBytes[bytes[keyStart - 1] as number] === 1) keyStart--;
    if (keyStart === equalsPosition) return true;
    const name = this.#names.getByBytes(bytes, keyStart, equalsPosition);
    if (name.affectsMore || name.valueNames.length > 0) return false;
    if (name.hasTexts && !this.#bodyName.hasTexts) this.#scanPairValue(bytes, equalsPosition + 1, to);
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
  readonly scanner: RecordScanner;
  /** Literals that all records of the resource contain */
  readonly foundLiterals: FoundLiterals;
  /** Positions of the resource's values */
  readonly valuePositions: readonly ValuePosition[];
}

/** Prefilter of the records of one rule set, processed in sequence */
class RecordPrefilter {
  readonly #set: RuleSet;
  readonly #scanners = new Map<EventKind, RecordScanner | undefined>();
  /** Resources by their bytes; `undefined` if the resource alone may make a rule match */
  readonly #resources = new Map<string, PrefilteredResource | undefined>();
  #characters = 0;
  #wire: string | undefined;
  #resource: PrefilteredResource | undefined;

  constructor(set: RuleSet) {
    this.#set = set;
  }

  prefilter(record: LogRecord): PrefilterResult | undefined {
    const { wireText } = record.resourceView;
    if (wireText !== this.#wire) this.#resource = this.#findResource(record, wireText);
    this.#wire = wireText;
    const resource = this.#resource;
    return resource?.scanner.prefilter(record, resource);
  }

  /** Returns the positions of the record that was just rejected. */
  findRejectedPositions(record: LogRecord): readonly ValuePosition[] {
    const resource = this.#resource;
    return resource === undefined ? [] : resource.scanner.findPositions(record, resource);
  }

  #findResource(record: LogRecord, wire: string): PrefilteredResource | undefined {
    if (this.#resources.has(wire)) return this.#resources.get(wire);
    const created = this.#createResource(record);
    this.#characters += wire.length;
    if (this.#characters > maxResourceCharacters) {
      this.#resources.clear();
      this.#characters = wire.length;
    }
    this.#resources.set(wire, created);
    return created;
  }

  #createResource(record: LogRecord): PrefilteredResource | undefined {
    const event = this.#set.newEvent();
    for (const [key, value] of getResourceValues(record)) event.addIfAbsent(key, value);
    const scanner = this.#getScanner(this.#set.classifyEvent(event));
    if (scanner === undefined || scanner.interest.isAlways(event)) return undefined;
    const valuePositions = event.leaves.map(({ names }) => ({ names }));
    return { scanner, valuePositions, foundLiterals: scanner.interest.index.findLiterals(event) };
  }

  #getScanner(kind: EventKind): RecordScanner | undefined {
    if (this.#scanners.has(kind)) return this.#scanners.get(kind);
    const interest = this.#set.getPrefilterConditions(kind);
    const scanner = interest === undefined ? undefined : new RecordScanner(kind, interest);
    if (this.#scanners.size >= maxKinds) this.#scanners.clear();
    this.#scanners.set(kind, scanner);
    return scanner;
  }
}

const cachedPrefilters = new WeakMap<RuleSet, RecordPrefilter>();

const getRecordPrefilter = (set: RuleSet): RecordPrefilter => {
  const records = cachedPrefilters.get(set) ?? new RecordPrefilter(set);
  cachedPrefilters.set(set, records);
  return records;
};

/**
 * Prefilters a record by its bytes: returns the kind of its event and the few rules of the set that may match it. A
 * record without candidates is rejected. Returns `undefined` if the bytes are not sufficient to decide. The result is
 * valid until the next call.
 */
export const prefilterRecord = (set: RuleSet, record: LogRecord): PrefilterResult | undefined =>
  getRecordPrefilter(set).prefilter(record);

/** Returns the positions of the values of the record that was just rejected, as its event would have them. */
export const findPrefilterPositions = (set: RuleSet, record: LogRecord): readonly ValuePosition[] =>
  getRecordPrefilter(set).findRejectedPositions(record);
