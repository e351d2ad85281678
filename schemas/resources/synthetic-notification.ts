import { defineCollection } from '../ports/documents.ts';

/** What the receivers of projects were told last of a check. The id is the check's. */
export interface SyntheticCheckNotification {
  readonly what: 'failing' | 'recovered';
  readonly at: string;
}
export const syntheticCheckNotifications = defineCollection<SyntheticCheckNotification>({
  name: 'synthetic-checks-told',
});

/** That a location has no vote, of which its organization was told. The id is the location's; it is deleted when the alert ends. */
export interface SyntheticSuspect {
  /** Name of the location, and why, as they were told: the alert keeps its labels. */
  readonly name: string;
  readonly reason: 'silent' | 'differs';
  /** When it was told; ISO-8601. */
  readonly startedAt: string;
}
export const syntheticSuspects = defineCollection<SyntheticSuspect>({ name: 'synthetic-suspects' });
