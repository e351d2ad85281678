import { defineCollection } from '../ports/documents.ts';

/**
 * The error-budget policy of an objective, under the id of the objective. What may stand in a step is declared where objectives are
 * (`subjects/slos/policy.ts`).
 */
export interface StoredSloPolicy {
  readonly steps: readonly object[];
}

export const sloPolicies = defineCollection<StoredSloPolicy>({ name: 'slo-policies' });
