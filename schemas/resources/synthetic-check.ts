import { defineCollection } from '../ports/documents.ts';

/** A synthetic check as it is stored. What may stand in it is declared with its types (`subjects/synthetics/check.ts`). */
export interface StoredCheck {
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly projectId: string | null;
  readonly every: string;
  readonly locations: readonly string[];
}

export const syntheticChecks = defineCollection<StoredCheck>({
  name: 'synthetic-checks',
  unique: [['name']],
  indexes: [['locations'], ['projectId']],
});

/** Of an organization. */
export const maxChecks = 1000;
