/** Index of rules by the literals that an event must contain for them to match */

import { TextIndex } from '../../schemas/text-index.ts';
import type { EventValue, SigmaEvent } from './event.ts';
import { type Clause, minTextLength, type RequiredLiteral, selectClauses, valueKey } from './required-literals.ts';

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
  readonly #seen: Uint8Array;
  readonly #touched: number[] = [];
  readonly #postings: Posting[] = [];
  readonly #values = new Map<string, Map<string, Posting>>();
  /** Folded names of values in which texts are searched */
  readonly #textNames = new Set<string>();
  /** All texts, and those that are searched in all values; both include keys */
  readonly #texts: TextIndex;
  readonly #anywhere: TextIndex;
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
    this.#seen = new Uint8Array(rules.length);
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
    const anywhere = new Set(unnamedTexts.filter((text) => texts.has(text)));
    this.hasTextsAnywhere = anywhere.size > 0;
    this.hasScalarTexts = [...anywhere].some(canOccurInScalar);
    const named = [...this.#values.keys(), ...this.#textNames, ...decisiveNames];
    const keys = [...new Set(named)].filter((name) => keyPattern.test(name));
    this.hasShortKeys = keys.some((name) => name.length < minTextLength - 1);
    for (const key of [...keys.map((name) => `${name}=`), ...omittedKeySegments]) {
      if (key.length < minTextLength) continue;
      this.#textPosting(texts, key).isKey = true;
      anywhere.add(key);
    }
    this.#texts = new TextIndex(texts);
    this.#anywhere = new TextIndex(new Map([...texts].filter(([text]) => anywhere.has(text))));
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
    for (const { low, names } of leaves) {
      for (const name of names) {
        const posting = this.#findPosting(name, low);
        if (posting !== undefined) foundPostings.push(posting);
      }
      this.#selectTexts(names)?.scan(low, (id) => foundPostings.push(this.#postings[id] as Posting));
    }
    return foundPostings;
  }

  /** Starts to process an event value by value, as `candidates` does in one call; `end` finishes the event. */
  begin(met: FoundLiterals): void {
    this.#round++;
    this.#found.length = 0;
    for (let at = 0; at < met.length; at++) this.#markFound(met[at] as Posting);
  }

  /** Adds a value, in lower case, with its folded names. */
  value(names: readonly string[], low: string): void {
    for (let at = 0; at < names.length; at++) {
      const posting = this.#findPosting(names[at] as string, low);
      if (posting !== undefined) this.#markFound(posting);
    }
  }

  /**
   * Searches the ASCII characters of a UTF-8 text for all texts or for those of any value. Returns flags of the
   * matches, as `TextIndex` does.
   */
  bytes(bytes: Uint8Array, from: number, to: number, forAll: boolean): number {
    return (forAll ? this.#texts : this.#anywhere).scanBytes(bytes, from, to, this.#onText);
  }

  /** Searches a body in the same way, and records the ends of keys in `keyEnds`. */
  body(bytes: Uint8Array, from: number, to: number, forAll: boolean): number {
    this.#keyEnds.length = 0;
    return (forAll ? this.#texts : this.#anywhere).scanBytes(bytes, from, to, this.#onBodyText);
  }

  /** Ends of relevant keys in the last body, possibly repeated: after their `=`, or after a segment that names omit. */
  get keyEnds(): readonly number[] {
    return this.#keyEnds;
  }

  /** Searches a text in lower case for the same texts. */
  text(low: string, forAll: boolean): void {
    (forAll ? this.#texts : this.#anywhere).scan(low, this.#onText);
  }

  /**
   * Finishes an event. Returns the rules that it may match, without those that may match any event; valid until the
   * next event.
   */
  end(): readonly number[] {
    for (let at = 0; at < this.#touched.length; at++) this.#seen[this.#touched[at] as number] = 0;
    this.#touched.length = 0;
    return this.#found;
  }

  /** Returns the numbers of the rules that an event may match; valid until the next call. */
  candidates({ leaves }: SigmaEvent): readonly number[] {
    this.begin(noLiterals);
    for (let at = 0; at < leaves.length; at++) {
      const { low, names } = leaves[at] as EventValue;
      this.value(names, low);
      this.#selectTexts(names)?.scan(low, this.#onText);
    }
    this.end();
    for (let at = 0; at < this.always.length; at++) this.#found.push(this.always[at] as number);
    return this.#found;
  }

  /** Returns the texts to search in a value of these names. */
  #selectTexts(names: readonly string[]): TextIndex | undefined {
    for (let at = 0; at < names.length; at++) if (this.#textNames.has(names[at] as string)) return this.#texts;
    return this.hasTextsAnywhere ? this.#anywhere : undefined;
  }

  #findPosting(name: string, low: string): Posting | undefined {
    const values = this.#values.get(name);
    return values?.get(low) ?? values?.get(valueKey(low));
  }

  #markFound(posting: Posting): void {
    if (posting.round === this.#round) return;
    posting.round = this.#round;
    const { rules, clauses } = posting;
    const seen = this.#seen;
    for (let at = 0; at < rules.length; at++) {
      const rule = rules[at] as number;
      const before = seen[rule] as number;
      const now = before | (clauses[at] as number);
      if (now === before) continue;
      if (before === 0) this.#touched.push(rule);
      seen[rule] = now;
      if (now === this.#requiredBits[rule]) this.#found.push(rule);
    }
  }

  #createPostings(literal: RequiredLiteral, texts: Map<string, number>): Posting[] {
    if (literal.is === 'value') return literal.names.map((name) => this.#valuePosting(name, literal.value));
    for (const name of literal.names) this.#textNames.add(name);
    return [this.#textPosting(texts, literal.text)];
  }

  #textPosting(texts: Map<string, number>, text: string): Posting {
    const id = texts.get(text) ?? texts.size;
    texts.set(text, id);
    const posting = this.#postings[id] ?? newPosting();
    this.#postings[id] = posting;
    return posting;
  }

  #valuePosting(name: string, value: string): Posting {
    const values = this.#values.get(name) ?? new Map<string, Posting>();
    this.#values.set(name, values);
    const posting = values.get(value) ?? newPosting();
    values.set(value, posting);
    return posting;
  }
}

const newPosting = (): Posting => ({ rules: [], clauses: [], isKey: false, round: 0 });

const addToPosting = (posting: Posting, rule: number, bit: number): void => {
  posting.rules.push(rule);
  posting.clauses.push(bit);
};
