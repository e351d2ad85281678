/** Tree of a rule's tests after modifiers, placeholders and fields are resolved; input of the matcher and the index */
import type { Comparison } from './documents.ts';
import type { Order, PositionModifier, TimePart } from './modifiers.ts';
import type { Pattern } from './pattern.ts';
import type { SigmaRegex } from './regex.ts';

/** A test of one value */
export type ValueTest =
  | { readonly is: 'pattern'; readonly pattern: Pattern; readonly isCaseSensitive: boolean }
  /** Numeric equality, in any notation */
  | { readonly is: 'number'; readonly value: number }
  | { readonly is: 'order'; readonly order: Order | Comparison; readonly value: number }
  | { readonly is: 'time'; readonly part: TimePart; readonly order: Order | Comparison; readonly value: number }
  | { readonly is: 'regex'; readonly regex: SigmaRegex }
  | { readonly is: 'network'; readonly has: (address: string) => boolean }
  | { readonly is: 'null' }
  | { readonly is: 'exists'; readonly exists: boolean }
  /** Compares the value with another field of the event */
  | {
      readonly is: 'field';
      readonly names: readonly string[];
      readonly place: PositionModifier | undefined;
      readonly isCaseSensitive: boolean;
    };

/** A test with the text of the rule from which it was built, for display */
export interface ExpectedValue {
  readonly test: ValueTest;
  readonly ruleText: string;
}

/** A field, or all values of an event, with its tests */
export interface ItemTest {
  readonly is: 'item';
  /** Name of the field in the rule; empty for keywords */
  readonly field: string;
  /** Folded names of the field in events, in lookup order; empty for keywords */
  readonly names: readonly string[];
  readonly modifiers: string;
  readonly selection: string;
  readonly values: readonly ExpectedValue[];
  /** Whether all expected values must match, or any */
  readonly all: boolean;
  /** Whether the field must exist and match none of the expected values */
  readonly isNegated: boolean;
}

export type RuleTree =
  | ItemTest
  | { readonly is: 'and' | 'or'; readonly parts: readonly RuleTree[] }
  | { readonly is: 'not'; readonly part: RuleTree };

export const emptyTree: RuleTree = { is: 'or', parts: [] };
