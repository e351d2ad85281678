/** What a rule's query answered, in the one form that evaluation reads. */
import type { Labels } from './state.ts';

export interface GroupAnswer {
  readonly labels: Labels;
  /** By time; null where a step has no value. NaN and the infinities are values. */
  readonly points: readonly (number | null)[];
  /** How many events the values are made of, where that is known. */
  readonly events?: number | undefined;
  /** Why nothing can be said of the group, although it has a value: a part of a sentence. */
  readonly unknown?: string | undefined;
  /** Why the condition does not hold whatever the value: a part of a sentence. */
  readonly tooFew?: string | undefined;
  /** What the value means, where a number says little: it is told instead of the comparison. */
  readonly says?: { readonly text: string; readonly reason: string } | undefined;
  /** Whether 0 means that there was nothing. */
  readonly isCount?: boolean | undefined;
}

export type RuleAnswer =
  | {
      readonly kind: 'groups';
      readonly unit: string;
      readonly groups: readonly GroupAnswer[];
      /** Whether there are more groups: what is missing from these says nothing. */
      readonly isCut?: boolean;
    }
  | {
      readonly kind: 'error';
      readonly message: string;
      /** What was asked did not answer: it may do so later. */
      readonly isAway?: boolean;
    }
  /** The rule is switched off, or was deleted: its alerts end. */
  | { readonly kind: 'over'; readonly reason: string };
