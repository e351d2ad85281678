import { defineCollection } from '../ports/documents.ts';
import type { ImportedFrom } from './imported-from.ts';

/** A stored synthetic check. `subjects/synthetics/check.ts` declares its schema, by check type. */
export interface StoredCheck {
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly projectId: string | null;
  readonly every: string;
  readonly locations: readonly string[];
  /** Absent for a check that was not imported */
  readonly importedFrom?: ImportedFrom | undefined;
}

export const syntheticChecks = defineCollection<StoredCheck>({
  name: 'synthetic-checks',
  unique: [['name']],
  indexes: [['locations'], ['projectId']],
});

/** Maximum number of checks of an organization. */
export const maxChecks = 1000;
