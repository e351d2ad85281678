/** What words of a question say, before it is known how they belong together. */
import type { Measure } from '../../queries/query.ts';
import type { TimePart } from './times.ts';

/** A condition of the search language about one field. */
export interface Condition {
  readonly search: string;
  readonly field: string;
  /** Of an equality: several of one field, with "or" between them, are one condition. */
  readonly value?: string;
  /** Whether it makes the part of a share: errors of requests. */
  readonly isPart?: true;
  /** Whether it says whom something comes from, who may have asked for it or answered it. */
  readonly isFrom?: true;
}

export type Noun = 'logs' | 'requests' | 'calls' | 'spans' | 'traces' | 'metric' | 'latency';
export type Figure = Pick<Measure, 'function' | 'percentile'>;
export type Operator = 'is' | 'not' | 'above' | 'below' | 'from' | 'upto' | 'between' | 'contains';

export type Mark =
  /** Has no part in the query. */
  | { readonly is: 'noise' }
  | { readonly is: 'noun'; readonly noun: Noun }
  /** `isLongest`: a figure of what takes time, or the things themselves, the longest first. */
  | { readonly is: 'figure'; readonly figure: Figure; readonly isLongest?: true }
  | { readonly is: 'count' | 'distinct' | 'share' | 'total' | 'current' | 'exists' }
  /** `isEach`: "per", behind which there is what it is by, and no order of a list. */
  | { readonly is: 'group'; readonly isEach?: true }
  | { readonly is: 'which' }
  | { readonly is: 'all' | 'list' | 'or' | 'and' | 'not' | 'overTime' | 'slowest' | 'fastest' | 'when' }
  /** `isExtreme`: "highest" is of a value, or the order of a list; "most" is the order of a list. */
  | { readonly is: 'most' | 'least'; readonly isExtreme?: true }
  | { readonly is: 'throughput' | 'newest' | 'oldest' | 'extreme' | 'longest' | 'sent' }
  | { readonly is: 'limit'; readonly limit: number }
  | { readonly is: 'condition'; readonly condition: Condition }
  | { readonly is: 'field'; readonly field: string; readonly isNumber: boolean }
  | { readonly is: 'number'; readonly value: number; readonly unit: string }
  | { readonly is: 'operator'; readonly operator: Operator; readonly about?: 'duration' }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'step'; readonly stepMs: number }
  | { readonly is: 'time'; readonly time: TimePart }
  | { readonly is: 'unknown' };

/** Some words and what they say; several marks where they have several meanings. */
export interface Marked {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Marks that some words may be: several where they have several meanings. */
export interface Found {
  readonly words: number;
  readonly marks: readonly Mark[];
}

export const one = (words: number, mark: Mark): Found => ({ words, marks: [mark] });
