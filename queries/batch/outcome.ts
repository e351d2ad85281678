/** What came of one question among several. */
import type { Answer } from '../answer.ts';

/** An answer, why there is none, or `undefined` where it is to be asked alone. */
export type Outcome = { readonly answer: Answer } | { readonly error: unknown } | undefined;

/** Told what came of the question at a place, as soon as it is known. */
export type ReportOutcome = (index: number, outcome: Exclude<Outcome, undefined>) => void;
