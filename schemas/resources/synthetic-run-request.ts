import { defineCollection } from '../ports/documents.ts';
import type { SyntheticRun } from '../synthetic-runs.ts';

/** A run off the schedule: that somebody asked for, until its answer is read, or that a failure elsewhere did. */
export interface SyntheticRunRequest {
  readonly checkId: string;
  /** A check that is not saved, whose id is nobody else's: its run is answered, and is no telemetry. */
  readonly tried?: object;
  readonly locations: readonly string[];
  readonly requestedAtMs: number;
  /** A failure elsewhere asks for it: it counts as those of the schedule do. */
  readonly isElsewhere?: boolean;
  /** By location. */
  readonly results: Readonly<Record<string, SyntheticRun>>;
}

export const syntheticRunRequests = defineCollection<SyntheticRunRequest>({ name: 'synthetic-asked-runs' });
