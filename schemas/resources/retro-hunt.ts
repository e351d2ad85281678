import { defineCollection } from '../ports/documents.ts';

/** A retro hunt: new detection rules evaluated over older stored records. The results are ordinary security signals. */
export interface RetroHunt {
  readonly ruleIds: readonly string[];
  readonly fromMs: number;
  /** After this time the stream evaluates the rules. */
  readonly toMs: number;
  readonly status: 'running' | 'finished' | 'failed';
  readonly records: number;
  readonly signals: number;
  /** False if there were more records or signals than the limits of one hunt. */
  readonly isComplete: boolean;
  /** Reason for the failure; empty if it did not fail. */
  readonly message: string;
}

export const retroHunts = defineCollection<RetroHunt>({ name: 'retro-hunts' });
