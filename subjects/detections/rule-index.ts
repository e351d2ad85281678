/** Rules by what must be in an event for them to match. */

import { TextIndex } from '../../schemas/text-index.ts';
import type { Leaf, SigmaEvent } from './event.ts';
import { bestClauses, type Clause, valueKey, type Witness } from './witnesses.ts';

/** Clauses of a rule that are looked for: a bit each. */
const mostClauses = 6;

/** Whether a text may lie within that of a number or a boolean. */
const isOfScalar = (text: string): boolean =>
  /^[\d.e+-]+$/.test(text) || ['-infinity', 'nan', 'true', 'false'].some((scalar) => scalar.includes(text));

/** Which rules a witness is for, and in which of their clauses. */
interface Posting {
  readonly rules: number[];
  readonly clauses: number[];
  /** The event in which it was seen last. */
  round: number;
}

/** What was found in an event; of no use to another index. */
export type Met = readonly Posting[];
const nothingMet: Met = [];

export class RuleIndex {
  /** Rules that may match any event. */
  readonly always: readonly number[];
  readonly #wanted: Uint8Array;
  readonly #seen: Uint8Array;
  readonly #touched: number[] = [];
  readonly #postings: Posting[] = [];
  readonly #values = new Map<string, Map<string, Posting>>();
  readonly #texts: TextIndex;
  /** Whether some of the texts may be the text of a number or a boolean. */
  readonly hasScalarTexts: boolean;
  readonly #found: number[] = [];
  readonly #foundText = (id: number): void => this.#meet(this.#postings[id] as Posting);
  #round = 0;

  /** `rules` are clauses by the rule's number. */
  constructor(rules: readonly (readonly Clause[])[]) {
    const texts = new Map<string, number>();
    const always: number[] = [];
    this.#wanted = new Uint8Array(rules.length);
    this.#seen = new Uint8Array(rules.length);
    for (const [rule, clauses] of rules.entries()) {
      if (clauses.length === 0) always.push(rule);
      for (const [number, clause] of bestClauses(clauses, mostClauses).entries()) {
        const bit = 1 << number;
        this.#wanted[rule] = (this.#wanted[rule] as number) | bit;
        for (const posting of clause.flatMap((witness) => this.#postingsOf(witness, texts))) post(posting, rule, bit);
      }
    }
    this.always = always;
    this.#texts = new TextIndex(texts);
    this.hasScalarTexts = [...texts.keys()].some(isOfScalar);
  }

  /** Whether values of a folded name are looked for. */
  asksFor(name: string): boolean {
    return this.#values.has(name);
  }

  /** What a record of some resource has in any case. */
  metBy({ leaves }: SigmaEvent): Met {
    const met: Posting[] = [];
    for (const { low, names } of leaves) {
      for (const name of names) {
        const posting = this.#postingOf(name, low);
        if (posting !== undefined) met.push(posting);
      }
      this.#texts.scan(low, (id) => met.push(this.#postings[id] as Posting));
    }
    return met;
  }

  /** Begins to look at an event value by value, as `candidates` does at once; `isAsked` ends it. */
  begin(met: Met): void {
    this.#round++;
    this.#found.length = 0;
    for (let at = 0; at < met.length; at++) this.#meet(met[at] as Posting);
  }

  /** A value, in lower case, by its folded names. */
  value(names: readonly string[], low: string): void {
    for (let at = 0; at < names.length; at++) {
      const posting = this.#postingOf(names[at] as string, low);
      if (posting !== undefined) this.#meet(posting);
    }
  }

  /** A text in UTF-8; false where it cannot be looked at so. */
  bytes(bytes: Uint8Array, from: number, to: number): boolean {
    return this.#texts.scanBytes(bytes, from, to, this.#foundText);
  }

  /** A number or a boolean, as text in lower case. */
  scalar(low: string): void {
    if (this.hasScalarTexts) this.#texts.scan(low, this.#foundText);
  }

  /** Ends a look, and tells whether some rule must be asked, beside those that may match any event. */
  isAsked(): boolean {
    for (let at = 0; at < this.#touched.length; at++) this.#seen[this.#touched[at] as number] = 0;
    this.#touched.length = 0;
    return this.#found.length > 0;
  }

  /** Numbers of the rules that an event may match; valid until the next call. */
  candidates({ leaves }: SigmaEvent): readonly number[] {
    this.begin(nothingMet);
    for (let at = 0; at < leaves.length; at++) {
      const { low, names } = leaves[at] as Leaf;
      this.value(names, low);
      this.#texts.scan(low, this.#foundText);
    }
    this.isAsked();
    for (let at = 0; at < this.always.length; at++) this.#found.push(this.always[at] as number);
    return this.#found;
  }

  #postingOf(name: string, low: string): Posting | undefined {
    const values = this.#values.get(name);
    return values?.get(low) ?? values?.get(valueKey(low));
  }

  #meet(posting: Posting): void {
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
      if (now === this.#wanted[rule]) this.#found.push(rule);
    }
  }

  #postingsOf(witness: Witness, texts: Map<string, number>): Posting[] {
    return witness.is === 'text'
      ? [this.#textPosting(texts, witness.text)]
      : witness.names.map((name) => this.#valuePosting(name, witness.value));
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

const newPosting = (): Posting => ({ rules: [], clauses: [], round: 0 });

const post = (posting: Posting, rule: number, bit: number): void => {
  posting.rules.push(rule);
  posting.clauses.push(bit);
};
