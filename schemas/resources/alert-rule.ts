import { defineCollection } from '../ports/documents.ts';

/**
 * An alert rule as it is stored. What may stand in `condition` is declared where queries are (`subjects/alerts/rule.ts`), in the version
 * of queries that is stored beside it.
 */
export interface StoredAlertRule {
  readonly name: string;
  readonly enabled: boolean;
  readonly condition: { readonly kind: string };
  readonly queryVersion: number;
  readonly managedBy?: ManagedBy | null;
}

/** The service level objective or synthetic check that made a rule, and through which alone it is changed. */
export type ManagedBy = { readonly sloId: string } | { readonly checkId: string };

export const alertRules = defineCollection<StoredAlertRule>({ name: 'alert-rules', unique: [['name']] });

/** That somebody has seen to an alert. The id is the alert's; it holds for as long as the alert fires without an end. */
export interface AlertAcknowledgement {
  readonly ruleId: string;
  /** Since when the alert fired that was acknowledged: one that fires anew is not. */
  readonly startedAtMs: number;
  /** Id of the user or service account. */
  readonly by: string;
  readonly at: string;
  readonly note: string;
}
export const alertAcknowledgements = defineCollection<AlertAcknowledgement>({ name: 'alert-acknowledgements' });
