/** Result of a question */
import type { QueryRequest } from '../../queries/query.ts';
import type { Range } from '../../queries/range.ts';
import type { ServiceDeployment } from './times.ts';

/** Words of a question and their meaning; `null` if they have no effect on the query */
export interface InterpretedWord {
  readonly text: string;
  readonly mappedTo: string | null;
}

/** One meaning of a question */
export interface Interpretation {
  readonly query: QueryRequest;
  readonly range: Range;
  /** Second range of a comparison; absent if the question has one range */
  readonly comparedRange?: Range;
  /** Whether a word was read as the requests to a route */
  readonly isRoute?: true;
  readonly stepMs: number | undefined;
  /** Deployment that defines the range; absent if none does */
  readonly deployment?: ServiceDeployment;
  /** Conditions of the search, each of which can be omitted to find the one that excludes all records */
  readonly conditions: readonly string[];
  readonly words: readonly InterpretedWord[];
}

/** What an investigation is about: the cause of a degradation, or changes */
export const investigatedKinds = ['cause', 'changes'] as const;
export type Investigated = (typeof investigatedKinds)[number];

/** A question that an analysis answers rather than a query */
export interface Investigation {
  readonly about: Investigated;
  /** `null`: all services, for changes */
  readonly service: string | null;
  readonly range: Range;
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

export interface ErrorResponse {
  readonly code: (typeof refusalCodes)[number];
  /** For people. */
  readonly reason: string;
  /** Names similar to unknown ones */
  readonly nearest: readonly string[];
  /** API operation to use instead; `null` if there is none */
  readonly operation: string | null;
}

export type InterpretationResult =
  | { readonly is: 'interpretation'; readonly interpretation: Interpretation }
  /** Several meanings, of which the user selects one */
  | { readonly is: 'alternatives'; readonly interpretations: readonly Interpretation[] }
  | { readonly is: 'investigation'; readonly investigation: Investigation }
  | { readonly is: 'refusal'; readonly refusal: ErrorResponse; readonly words: readonly InterpretedWord[] };
