import { defineCollection } from '../ports/documents.ts';

/** That receivers of projects were told that an objective burns. The id is the objective's; it is deleted when the burn has ended. */
export interface SloBurnNotification {
  /** When; ISO-8601. */
  readonly at: string;
}

export const sloBurnNotifications = defineCollection<SloBurnNotification>({ name: 'slo-burns-told' });
