import { defineCollection } from '../ports/documents.ts';

/**
 * Records that receivers of projects were notified about the burn rate of an SLO. The ID is that of the SLO. It is
 * deleted when the burn has ended.
 */
export interface SloBurnNotification {
  /** Time of the notification, in ISO 8601. */
  readonly at: string;
}

export const sloBurnNotifications = defineCollection<SloBurnNotification>({ name: 'slo-burns-told' });
