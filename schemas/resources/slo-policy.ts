import { defineCollection } from '../ports/documents.ts';

/**
 * The error budget policy of an SLO, with the ID of the SLO. `subjects/slos/policy.ts` declares the schema of its
 * steps.
 */
export interface StoredSloPolicy {
  readonly steps: readonly object[];
}

export const sloPolicies = defineCollection<StoredSloPolicy>({ name: 'slo-policies' });
