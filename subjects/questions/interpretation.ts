/** Result of a question */
import type { QueryRequest } from '../../queries/query.ts';
import type { Range } from '../../queries/range.ts';

/** Words of a question and their meaning; `null` if they have no effect on the query */
export interface InterpretedWord {
  readonly text: string;
  readonly mappedTo: string | null;
}

/** One meaning of a question */
export interface Interpretation {
  readonly query: QueryRequest;
  readonly range: Range;
  readonly stepMs: number | undefined;
  /** Conditions of the search, each of which can be omitted to find the one that excludes all records */
  readonly conditions: readonly string[];
  readonly words: readonly InterpretedWord[];
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
  /** Names similar to unknown ones */
  readonly nearest: readonly string[];
  /** API operation to use instead; `null` if there is none */
  readonly operation: string | null;
  /** Service that the question names; `null` or absent if there is none */
  readonly service?: string | null;
}

export type InterpretationResult =
  | { readonly is: 'interpretation'; readonly interpretation: Interpretation }
  /** Several meanings, of which the user selects one */
  | { readonly is: 'alternatives'; readonly interpretations: readonly Interpretation[] }
  | { readonly is: 'refusal'; readonly refusal: Refusal; readonly words: readonly InterpretedWord[] };
