import { defineCollection } from '../ports/documents.ts';

/** Last notification to the receivers of projects about a check. The ID is that of the check. */
export interface SyntheticCheckNotification {
  readonly what: 'failing' | 'recovered';
  readonly at: string;
}
export const syntheticCheckNotifications = defineCollection<SyntheticCheckNotification>({
  name: 'synthetic-checks-told',
});

/**
 * A location without a vote, about which its organization was notified. The ID is that of the location. It is deleted
 * when the alert ends.
 */
export interface SyntheticSuspect {
  /** Name of the location and reason at the time of the notification, so that the alert keeps its labels. */
  readonly name: string;
  readonly reason: 'silent' | 'differs';
  /** Time of the notification, in ISO 8601. */
  readonly startedAt: string;
}
export const syntheticSuspects = defineCollection<SyntheticSuspect>({ name: 'synthetic-suspects' });
