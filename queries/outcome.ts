/** Outcome of one query of a batch. */
import type { ResultData } from './query-result.ts';

/** A result, an error, or `undefined` if the query should run alone. */
export type QueryOutcome = { readonly result: ResultData } | { readonly error: unknown } | undefined;

/** Reports the outcome of the query at an index as soon as it is known. */
export type ReportOutcome = (index: number, outcome: Exclude<QueryOutcome, undefined>) => void;
