import type { AlertSeverity } from '../alerts.ts';
import { defineCollection } from '../ports/documents.ts';

/**
 * Problems of the platform that are reported to an organization: rules that are not evaluated, late detections, and
 * records that land late.
 */
export const platformAlertKinds = ['rules-not-evaluated', 'detections-late', 'records-late'] as const;
export type PlatformAlertKind = (typeof platformAlertKinds)[number];

/** A firing alert of the platform. Its ID is the kind. It is deleted when the alert ends. */
export interface PlatformAlert {
  readonly severity: AlertSeverity;
  /** Reason, as a sentence. */
  readonly reason: string;
  /** Start of the problem, in ISO 8601. */
  readonly since: string;
  /** Time of detection, in ISO 8601. */
  readonly startedAt: string;
}
export const platformAlerts = defineCollection<PlatformAlert>({ name: 'platform-alerts' });

/**
 * Last notification of the operator by a channel: ongoing problems by name. The ID is the channel type; stored under
 * `platformTenant`.
 */
export interface OperatorProblems {
  readonly problems: Readonly<Record<string, { readonly text: string; readonly since: string }>>;
}
export const operatorProblems = defineCollection<OperatorProblems>({ name: 'operator-problems' });
