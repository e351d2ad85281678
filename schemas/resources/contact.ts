import { defineCollection } from '../ports/documents.ts';
import type { NotificationChannel } from './notification-channel.ts';

/** A notification channel of one person for pages. `settings` has the schema of channel settings. */
export interface Contact extends Pick<NotificationChannel, 'name' | 'enabled' | 'settings'> {
  /** User ID of the owner. */
  readonly ownerId: string;
}

/** Names are unique per person, since contacts are personal. */
export const contacts = defineCollection<Contact>({ name: 'contacts', unique: [['ownerId', 'name']] });
