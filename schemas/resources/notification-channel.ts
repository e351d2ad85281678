import { defineCollection } from '../ports/documents.ts';

/**
 * Destination of notifications. The channel types (`subjects/notification-channels`) declare the schema of `settings`.
 * Its secrets are encrypted.
 */
export interface NotificationChannel {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly settings: { readonly type: string } & Readonly<Record<string, unknown>>;
  /** Empty for the default templates. */
  readonly templates: { readonly title: string; readonly text: string };
  readonly maxPerMinute: number;
}

export const notificationChannels = defineCollection<NotificationChannel>({
  name: 'notification-channels',
  unique: [['name']],
});
