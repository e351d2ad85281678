import { defineCollection } from '../ports/documents.ts';

/** New detection rules that are run over what was stored before they were there. What they find are signals like any other. */
export interface RetroHunt {
  readonly ruleIds: readonly string[];
  readonly fromMs: number;
  /** Behind this time the stream asks the rules. */
  readonly toMs: number;
  readonly status: 'running' | 'finished' | 'failed';
  readonly records: number;
  readonly signals: number;
  /** False where there were more records, or more signals, than one hunt looks at. */
  readonly isComplete: boolean;
  /** Why it failed; empty where it did not. */
  readonly message: string;
}

export const retroHunts = defineCollection<RetroHunt>({ name: 'retro-hunts' });
