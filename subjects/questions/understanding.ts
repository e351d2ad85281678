/** What comes of a question. */
import type { Range } from '../../queries/range.ts';
import type { QueryRequest } from '../../queries/run.ts';

/** A word or some of a question, and what they became; null where they have no part in the query. */
export interface ReadWord {
  readonly text: string;
  readonly mappedTo: string | null;
}

/** One meaning of a question. */
export interface Interpretation {
  readonly query: QueryRequest;
  readonly range: Range;
  readonly stepMs: number | undefined;
  /** Parts of its search, each of which may be left out to see which one excludes all. */
  readonly conditions: readonly string[];
  readonly words: readonly ReadWord[];
}

export const refusalCodes = [
  ...([
    'unknown-name',
    'unclear',
    'cause',
    'forecast',
    'change',
    'comparison',
    'anomaly',
    'elsewhere',
    'invalid',
    'nothing-there',
  ] as const),
] as const;

export interface Refusal {
  readonly code: (typeof refusalCodes)[number];
  /** For people. */
  readonly reason: string;
  /** Names like those that are not known. */
  readonly nearest: readonly string[];
  /** The operation that answers such a question. */
  readonly operation: string | null;
}

export type Understanding =
  | { readonly is: 'interpretation'; readonly interpretation: Interpretation }
  /** Several meanings, of which the asker takes one. */
  | { readonly is: 'alternatives'; readonly interpretations: readonly Interpretation[] }
  | { readonly is: 'refusal'; readonly refusal: Refusal; readonly words: readonly ReadWord[] };
