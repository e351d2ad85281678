/** Meanings of the words of a question, before they are combined */
import type { Having, Measure } from '../../queries/query.ts';
import type { TimePart } from './times.ts';

/** A condition of the search language on one field */
export interface Condition {
  readonly search: string;
  readonly field: string;
  /** Value of an equality; several values of one field with "or" form one condition */
  readonly value?: string;
  /** Whether the condition defines the numerator of a share, such as errors of requests */
  readonly isNumerator?: true;
  /** Whether the condition names the origin of a request, which may be its client or server */
  readonly isOrigin?: true;
  /** Whether the condition names what requests are for, as in "orders" for the route `/orders` */
  readonly isRequest?: true;
  /** Comparison of a numeric field, in its unit, that a measure of the field may have instead: "above 2 s on average" */
  readonly comparison?: Having;
}

/** Condition on the values of groups */
export interface GroupCondition {
  readonly operator: Having['operator'];
  readonly value: number;
  /** Unit as written, in lower case; empty for a plain number */
  readonly unit: string;
}

export type Noun = 'logs' | 'requests' | 'calls' | 'spans' | 'traces' | 'metric' | 'latency';
export type MeasureFunction = Pick<Measure, 'function' | 'percentile'>;
export type Operator = 'is' | 'not' | 'above' | 'below' | 'from' | 'upto' | 'between' | 'contains';

export type Mark =
  /** Has no effect on the query */
  | { readonly is: 'noise' }
  | { readonly is: 'noun'; readonly noun: Noun }
  /** `isLongest`: a measure of a duration, or the items themselves, the longest first. */
  | { readonly is: 'figure'; readonly measure: MeasureFunction; readonly isLongest?: true }
  | { readonly is: 'count' | 'distinct' | 'share' | 'total' | 'current' | 'exists' }
  /** `isEach`: "per", which is followed by a group and not by the order of a list. */
  | { readonly is: 'group'; readonly isEach?: true }
  | { readonly is: 'which' }
  | { readonly is: 'all' | 'list' | 'or' | 'and' | 'not' | 'overTime' | 'fastest' | 'when' }
  /** `isCost`: "most expensive", which is a price if the question names one. */
  | { readonly is: 'slowest'; readonly isCost?: true }
  /** A noun that the value of a field describes: "matches" of `match.outcome` */
  | { readonly is: 'description' }
  /** `isExtreme`: "highest" refers to a value or to the order of a list; "most" refers to the order of a list. */
  | { readonly is: 'most' | 'least'; readonly isExtreme?: true }
  /** A rise or fall, of which a comparison needs no steps. "Got slower" is one of the latency. */
  | { readonly is: 'trend'; readonly noun?: 'latency' }
  /** `isSingle`: "the last error log" is one record. */
  | { readonly is: 'newest' | 'oldest'; readonly isSingle?: true }
  /** "Traffic": the number of requests */
  | { readonly is: 'traffic' }
  | { readonly is: 'throughput' | 'extreme' | 'longest' | 'sent' }
  /** "Compare", "versus": the values of one field are groups. "Both": each record must have all values. */
  | { readonly is: 'both' | 'table' }
  /** "2.4.0 is slower than 2.3.1" compares the latency. */
  | { readonly is: 'compare'; readonly noun?: 'latency' }
  | { readonly is: 'limit'; readonly limit: number }
  | { readonly is: 'condition'; readonly condition: Condition }
  /**
   * `isOfType`: "claim" for `claim.type`, whose values are not claims. `isListed`: "pods that restarted" are grouped by
   * the pod.
   */
  | {
      readonly is: 'field';
      readonly field: string;
      readonly isNumber: boolean;
      readonly isOfType?: true;
      readonly isListed?: true;
    }
  | { readonly is: 'number'; readonly value: number; readonly unit: string }
  | { readonly is: 'having'; readonly condition: GroupCondition }
  | { readonly is: 'operator'; readonly operator: Operator; readonly about?: 'duration' }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'step'; readonly stepMs: number }
  | { readonly is: 'time'; readonly time: TimePart }
  | { readonly is: 'unknown' };

/** Words with their meanings; several marks if ambiguous */
export interface MarkedWords {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Possible marks of words; several if ambiguous */
export interface MarkCandidates {
  readonly words: number;
  readonly marks: readonly Mark[];
}

export const createSingleMark = (words: number, mark: Mark): MarkCandidates => ({ words, marks: [mark] });
