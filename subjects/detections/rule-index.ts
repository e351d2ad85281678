/** Index of rules by the literals that an event must contain for them to match. */

import { TextIndex } from '../../schemas/text-index.ts';
import type { EventValue, SigmaEvent } from './event.ts';
import { type Clause, minTextLength, type RequiredLiteral, selectClauses, toValueKey } from './required-literals.ts';

/** Maximum number of indexed clauses per rule, one bit each */
const maxClauses = 6;

/** Returns whether a text may occur in the text of a number or a boolean. */
const canOccurInScalar = (text: string): boolean =>
  /^(?:-?\d*(?:\.\d*)?(?:e[+-]?\d*)?|\+\d+)$/.test(text) ||
  ['-infinity', 'nan', 'true', 'false'].some((scalar) => scalar.includes(text));

/** Characters of keys of `key=value` pairs, in lower case */
const keyPattern = /^[\w.-]+$/;
/** Key segments that names omit */
const omittedKeySegments = ['.value', '._attributes'].flatMap((part) => [`${part}.`, `${part}=`]);

/** The rules to which a literal belongs, and the clauses in them */
interface Posting {
  readonly rules: number[];
  /** Whether the literal is the end of a key in a body, with the character that follows */
  isKey: boolean;
  readonly clauses: number[];
  /** The event in which the literal last occurred */
  round: number;
}

/** Literals found in an event; valid for this index only */
export type FoundLiterals = readonly Posting[];
const noLiterals: FoundLiterals = [];

export class RuleIndex {
  /** Rules that may match any event */
  readonly always: readonly number[];
  readonly #requiredBits: Uint8Array;
  readonly #seenBits: Uint8Array;
  readonly #touched: number[] = [];
  readonly #postings: Posting[] = [];
  readonly #values = new Map<string, Map<string, Posting>>();
  /** Folded names of values in which texts are searched */
  readonly #textNames = new Set<string>();
  /** All texts, and those that are searched in all values; both include keys */
  readonly #texts: TextIndex;
  readonly #textsAnywhere: TextIndex;
  /** Whether texts are searched in all values, and whether some of them may occur in a number or a boolean */
  readonly hasTextsAnywhere: boolean;
  readonly hasScalarTexts: boolean;
  /** Whether relevant names are too short to be searched as texts */
  readonly hasShortKeys: boolean;
  readonly #found: number[] = [];
  readonly #onText = (id: number): void => this.#markFound(this.#postings[id] as Posting);
  readonly #onBodyText = (id: number, end: number): void => {
    const posting = this.#postings[id] as Posting;
    if (posting.isKey) this.#keyEnds.push(end);
    this.#markFound(posting);
  };
  readonly #keyEnds: number[] = [];
  #round = 0;

  /** `rules` are the clauses by rule number; `decisiveNames` are folded names that matter at any position. */
  constructor(rules: readonly (readonly Clause[])[], decisiveNames: Iterable<string> = []) {
    const texts = new Map<string, number>();
    const always: number[] = [];
    this.#requiredBits = new Uint8Array(rules.length);
    this.#seenBits = new Uint8Array(rules.length);
    for (const [rule, clauses] of rules.entries()) {
      if (clauses.length === 0) always.push(rule);
      for (const [number, clause] of selectClauses(clauses, maxClauses).entries()) {
        const bit = 1 << number;
        this.#requiredBits[rule] = (this.#requiredBits[rule] as number) | bit;
        for (const posting of clause.flatMap((literal) => this.#createPostings(literal, texts)))
          addToPosting(posting, rule, bit);
      }
    }
    this.always = always;
    const unnamedTexts = rules
      .flat(2)
      .flatMap((literal) => (literal.is === 'text' && literal.names.length === 0 ? [literal.text] : []));
    const textsAnywhere = new Set(unnamedTexts.filter((text) => texts.has(text)));
    this.hasTextsAnywhere = textsAnywhere.size > 0;
    this.hasScalarTexts = [...textsAnywhere].some(canOccurInScalar);
    const relevantNames = [...this.#values.keys(), ...this.#textNames, ...decisiveNames];
    const keys = [...new Set(relevantNames)].filter((name) => keyPattern.test(name));
    this.hasShortKeys = keys.some((name) => name.length < minTextLength - 1);
    for (const key of [...keys.map((name) => `${name}=`), ...omittedKeySegments]) {
      if (key.length < minTextLength) continue;
      this.#getTextPosting(texts, key).isKey = true;
      textsAnywhere.add(key);
    }
    this.#texts = new TextIndex(texts);
    this.#textsAnywhere = new TextIndex(new Map([...texts].filter(([text]) => textsAnywhere.has(text))));
  }

  /** Returns whether exact values of a folded name are looked up. */
  hasValuesOf(name: string): boolean {
    return this.#values.has(name);
  }

  /** Returns whether texts are searched in values of a folded name that are not searched in all values. */
  hasTextsOf(name: string): boolean {
    return this.#textNames.has(name);
  }

  /** Returns the literals that every record of a resource contains. */
  findLiterals({ leaves }: SigmaEvent): FoundLiterals {
    const foundPostings: Posting[] = [];
    for (const { foldedText, names } of leaves) {
      for (const name of names) {
        const posting = this.#findPosting(name, foldedText);
        if (posting !== undefined) foundPostings.push(posting);
      }
      this.#selectTexts(names)?.scan(foldedText, (id) => foundPostings.push(this.#postings[id] as Posting));
    }
    return foundPostings;
  }

  /** Starts to process an event value by value, as `candidates` does in one call; `end` finishes the event. */
  beginEvent(foundLiterals: FoundLiterals): void {
    this.#round++;
    this.#found.length = 0;
    for (let index = 0; index < foundLiterals.length; index++) this.#markFound(foundLiterals[index] as Posting);
  }

  /** Adds a value, in lower case, with its folded names. */
  addValue(names: readonly string[], low: string): void {
    for (let index = 0; index < names.length; index++) {
      const posting = this.#findPosting(names[index] as string, low);
      if (posting !== undefined) this.#markFound(posting);
    }
  }

  /**
   * Searches the ASCII characters of a UTF-8 text for all texts or for those of any value. Returns flags of the
   * matches, as `TextIndex` does.
   */
  scanBytes(scanBytes: Uint8Array, from: number, to: number, searchAll: boolean): number {
    return (searchAll ? this.#texts : this.#textsAnywhere).scanBytes(scanBytes, from, to, this.#onText);
  }

  /** Searches a body in the same way, and records the ends of keys in `keyEnds`. */
  scanBody(bytes: Uint8Array, from: number, to: number, searchAll: boolean): number {
    this.#keyEnds.length = 0;
    return (searchAll ? this.#texts : this.#textsAnywhere).scanBytes(bytes, from, to, this.#onBodyText);
  }

  /** Ends of relevant keys in the last body, possibly repeated: after their `=`, or after a segment that names omit. */
  get keyEnds(): readonly number[] {
    return this.#keyEnds;
  }

  /** Searches a text in lower case for the same texts. */
  scanText(low: string, searchAll: boolean): void {
    (searchAll ? this.#texts : this.#textsAnywhere).scan(low, this.#onText);
  }

  /**
   * Finishes an event. Returns the rules that it may match, without those that may match any event; valid until the
   * next event.
   */
  endEvent(): readonly number[] {
    for (let index = 0; index < this.#touched.length; index++) this.#seenBits[this.#touched[index] as number] = 0;
    this.#touched.length = 0;
    return this.#found;
  }

  /** Returns the numbers of the rules that an event may match; valid until the next call. */
  findCandidates({ leaves }: SigmaEvent): readonly number[] {
    this.beginEvent(noLiterals);
    for (let index = 0; index < leaves.length; index++) {
      const { foldedText, names } = leaves[index] as EventValue;
      this.addValue(names, foldedText);
      this.#selectTexts(names)?.scan(foldedText, this.#onText);
    }
    this.endEvent();
    for (let index = 0; index < this.always.length; index++) this.#found.push(this.always[index] as number);
    return this.#found;
  }

  /** Returns the texts to search in a value of these names. */
  #selectTexts(names: readonly string[]): TextIndex | undefined {
    for (let index = 0; index < names.length; index++)
      if (this.#textNames.has(names[index] as string)) return this.#texts;
    return this.hasTextsAnywhere ? this.#textsAnywhere : undefined;
  }

  #findPosting(name: string, low: string): Posting | undefined {
    const values = this.#values.get(name);
    return values?.get(low) ?? values?.get(toValueKey(low));
  }

  #markFound(posting: Posting): void {
    if (posting.round === this.#round) return;
    posting.round = this.#round;
    const { rules, clauses } = posting;
    const seenBits = this.#seenBits;
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index] as number;
      const previousBits = seenBits[rule] as number;
      const newBits = previousBits | (clauses[index] as number);
      if (newBits === previousBits) continue;
      if (previousBits === 0) this.#touched.push(rule);
      seenBits[rule] = newBits;
      if (newBits === this.#requiredBits[rule]) this.#found.push(rule);
    }
  }

  #createPostings(literal: RequiredLiteral, texts: Map<string, number>): Posting[] {
    if (literal.is === 'value') return literal.names.map((name) => this.#getValuePosting(name, literal.value));
    for (const name of literal.names) this.#textNames.add(name);
    return [this.#getTextPosting(texts, literal.text)];
  }

  #getTextPosting(texts: Map<string, number>, text: string): Posting {
    const id = texts.get(text) ?? texts.size;
    texts.set(text, id);
    const posting = this.#postings[id] ?? createPosting();
    this.#postings[id] = posting;
    return posting;
  }

  #getValuePosting(name: string, value: string): Posting {
    const values = this.#values.get(name) ?? new Map<string, Posting>();
    this.#values.set(name, values);
    const posting = values.get(value) ?? createPosting();
    values.set(value, posting);
    return posting;
  }
}

const createPosting = (): Posting => ({ rules: [], clauses: [], isKey: false, round: 0 });

const addToPosting = (posting: Posting, rule: number, bit: number): void => {
  posting.rules.push(rule);
  posting.clauses.push(bit);
};
