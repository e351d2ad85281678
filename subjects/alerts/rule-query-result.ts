/** Result of a rule's query, in the form that evaluation reads. */
import type { Labels } from './state.ts';

export interface GroupQueryResult {
  readonly labels: Labels;
  /** Values in order of time; null for a step without a value. NaN and the infinities are values. */
  readonly points: readonly (number | null)[];
  /** Number of events behind the values, if known. */
  readonly eventCount?: number | undefined;
  /** Reason why the state of the group is unknown despite a value, as part of a sentence. */
  readonly unknownReason?: string | undefined;
  /** Reason why the condition does not hold regardless of the value, as part of a sentence. */
  readonly ignoredReason?: string | undefined;
  /** Meaning of the value, for values that are hard to interpret; reported instead of the comparison. */
  readonly explanation?: { readonly text: string; readonly reason: string } | undefined;
  /** Whether 0 means that there were no records. */
  readonly isCount?: boolean | undefined;
}

export type RuleQueryResult =
  | {
      readonly kind: 'groups';
      readonly unit: string;
      readonly groups: readonly GroupQueryResult[];
      /** Whether the result is truncated. If so, a missing group does not mean that the query returned none for it. */
      readonly isTruncated?: boolean;
    }
  | {
      readonly kind: 'error';
      readonly message: string;
      /** Whether the queried store did not respond, so that a retry may succeed. */
      readonly isAway?: boolean;
    }
  /** The rule is disabled or deleted, so its alerts end. */
  | { readonly kind: 'over'; readonly reason: string };
