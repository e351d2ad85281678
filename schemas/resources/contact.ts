import { defineCollection } from '../ports/documents.ts';
import type { NotificationChannel } from './notification-channel.ts';

/** A notification channel of one person, by which pages reach them. What may stand in `settings` is what channels take. */
export interface Contact extends Pick<NotificationChannel, 'name' | 'enabled' | 'settings'> {
  /** The person's user id. */
  readonly ownerId: string;
}

/** Names are one person's, as contacts are. */
export const contacts = defineCollection<Contact>({ name: 'contacts', unique: [['ownerId', 'name']] });
