import { defineCollection } from '../ports/documents.ts';
import type { SyntheticRun } from '../synthetic-runs.ts';

/** A run that somebody asked for, until its answer is read. */
export interface SyntheticAskedRun {
  readonly checkId: string;
  readonly locations: readonly string[];
  readonly askedMs: number;
  /** By location. */
  readonly results: Readonly<Record<string, SyntheticRun>>;
}

export const syntheticAskedRuns = defineCollection<SyntheticAskedRun>({ name: 'synthetic-asked-runs' });
