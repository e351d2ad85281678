import type { AlertSeverity } from '../alerts.ts';
import { defineCollection } from '../ports/documents.ts';

/** What the platform tells an organization of itself: rules that are not evaluated, detections that are late, records that land late. */
export const platformAlertKinds = ['rules-not-evaluated', 'detections-late', 'records-late'] as const;
export type PlatformAlertKind = (typeof platformAlertKinds)[number];

/** An alert of the platform that fires. Its id is the kind; it is deleted when the alert ends. */
export interface PlatformAlert {
  readonly severity: AlertSeverity;
  /** Why, in a sentence. */
  readonly reason: string;
  /** ISO-8601: since when things are not as they should be. */
  readonly since: string;
  /** ISO-8601: when it was noticed. */
  readonly startedAt: string;
}
export const platformAlerts = defineCollection<PlatformAlert>({ name: 'platform-alerts' });

/** What the operator was last told by a channel: problems that are not over, by name. The id is the channel's type; under `platformTenant`. */
export interface OperatorProblems {
  readonly problems: Readonly<Record<string, { readonly text: string; readonly since: string }>>;
}
export const operatorProblems = defineCollection<OperatorProblems>({ name: 'operator-problems' });
