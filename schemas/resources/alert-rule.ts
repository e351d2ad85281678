import { defineCollection } from '../ports/documents.ts';

/**
 * A stored alert rule. `subjects/alerts/rule.ts` declares the schema of `condition`, in the query version that is
 * stored with the rule.
 */
export interface StoredAlertRule {
  readonly name: string;
  readonly enabled: boolean;
  readonly condition: { readonly kind: string };
  readonly queryVersion: number;
  readonly managedBy?: ManagedBy | null;
}

/** The SLO or synthetic check that created a rule and manages its changes. */
export type ManagedBy = { readonly sloId: string } | { readonly checkId: string };

export const alertRules = defineCollection<StoredAlertRule>({ name: 'alert-rules', unique: [['name']] });

/** Acknowledgement of an alert. Its ID is that of the alert. It is valid while the alert fires without interruption. */
export interface AlertAcknowledgement {
  readonly ruleId: string;
  /** When the acknowledged alert started firing. The acknowledgement does not apply after a new start. */
  readonly startedAtMs: number;
  /** ID of the user or service account. */
  readonly by: string;
  readonly at: string;
  readonly note: string;
}
export const alertAcknowledgements = defineCollection<AlertAcknowledgement>({ name: 'alert-acknowledgements' });
