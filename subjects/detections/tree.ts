/** What a rule asks of an event, once its modifiers, placeholders and fields are understood. The matcher and the index read this. */
import type { Comparison } from './documents.ts';
import type { Order, Place, TimePart } from './modifiers.ts';
import type { Pattern } from './pattern.ts';
import type { SigmaRegex } from './regex.ts';

/** A test of one value. */
export type ValueTest =
  | { readonly is: 'pattern'; readonly pattern: Pattern; readonly cased: boolean }
  /** Equal as a number, whatever way it is written. */
  | { readonly is: 'number'; readonly value: number }
  | { readonly is: 'order'; readonly order: Order | Comparison; readonly value: number }
  | { readonly is: 'time'; readonly part: TimePart; readonly order: Order | Comparison; readonly value: number }
  | { readonly is: 'regex'; readonly regex: SigmaRegex }
  | { readonly is: 'network'; readonly has: (address: string) => boolean }
  | { readonly is: 'null' }
  | { readonly is: 'exists'; readonly exists: boolean }
  /** Compared with another field of the event. */
  | {
      readonly is: 'field';
      readonly names: readonly string[];
      readonly place: Place | undefined;
      readonly cased: boolean;
    };

/** A test with the text of the rule that it was made of, for people. */
export interface ExpectedValue {
  readonly test: ValueTest;
  readonly shown: string;
}

/** A field, or all values of an event, and what is asked of them. */
export interface ItemTest {
  readonly is: 'item';
  /** As the rule names it; empty for keywords. */
  readonly field: string;
  /** Names under which events have it, folded, in the order in which they are looked for. None for keywords. */
  readonly names: readonly string[];
  readonly modifiers: string;
  readonly selection: string;
  readonly values: readonly ExpectedValue[];
  /** All of what is wanted, or any. */
  readonly all: boolean;
  /** It exists, and no value of it is wanted. */
  readonly differs: boolean;
}

export type RuleTree =
  | ItemTest
  | { readonly is: 'and' | 'or'; readonly parts: readonly RuleTree[] }
  | { readonly is: 'not'; readonly part: RuleTree };

export const never: RuleTree = { is: 'or', parts: [] };
