import { defineCollection } from '../ports/documents.ts';

/**
 * Where notifications are sent. What may stand in `settings` is declared with the types of channels
 * (`subjects/notification-channels`); its secrets are sealed.
 */
export interface NotificationChannel {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly settings: { readonly type: string } & Readonly<Record<string, unknown>>;
  /** Empty for the usual ones. */
  readonly templates: { readonly title: string; readonly text: string };
  readonly maxPerMinute: number;
}

export const notificationChannels = defineCollection<NotificationChannel>({
  name: 'notification-channels',
  unique: [['name']],
});
