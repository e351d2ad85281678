import { defineCollection } from '../ports/documents.ts';
import type { SyntheticRun } from '../synthetic-runs.ts';

/**
 * A run outside the schedule: requested by a user, until its result is read, or triggered by a failure at another
 * location.
 */
export interface SyntheticRunRequest {
  readonly checkId: string;
  /** An unsaved check with a unique ID. Its result is returned and not stored as telemetry. */
  readonly tried?: object;
  readonly locations: readonly string[];
  readonly requestedAtMs: number;
  /** Whether a failure at another location triggered the run, which then counts like a scheduled run. */
  readonly isElsewhere?: boolean;
  /** By location. */
  readonly results: Readonly<Record<string, SyntheticRun>>;
}

export const syntheticRunRequests = defineCollection<SyntheticRunRequest>({ name: 'synthetic-asked-runs' });
