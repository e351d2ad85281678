import type { Notification } from '../notifications.ts';
import { defineCollection } from '../ports/documents.ts';

/**
 * A notification on its way to its channel. Its ID is that of the notification. After delivery it remains for a day
 * without its content, so that a redelivery of the same notification is recognized.
 */
export interface PendingDelivery {
  readonly channelId: string;
  /** Ordering key of deliveries: the channel and the group. */
  readonly lane: string;
  readonly queuedAt: string;
  /** Number of started attempts. */
  readonly attempts: number;
  /** Time of the next attempt. During an attempt: the time from which another instance may claim it. */
  readonly dueAt: string;
  /** When it was delivered or abandoned; null until then. */
  readonly endedAt: string | null;
  /** Absent after the end. */
  readonly notification?: Notification | undefined;
}
export const pendingDeliveries = defineCollection<PendingDelivery>({
  name: 'pending-deliveries',
  indexes: [['endedAt']],
});

/** Health of a channel. Its ID is that of the channel. */
export interface ChannelHealth {
  /** Failed attempts since the last success. */
  readonly failures: number;
  /** Start of the alert about the failures; null without an alert. */
  readonly failingSince: string | null;
  readonly lastDeliveredAt: string | null;
  readonly lastError: string | null;
}
export const channelHealths = defineCollection<ChannelHealth>({ name: 'channel-healths' });

/** Outage of a destination: a channel, or a contact of a user. It ends with the first delivery. */
export interface ChannelOutage {
  readonly since: string;
  /** Failed attempts since then. */
  readonly failures: number;
  /** Time of the next probe. */
  readonly probeAt: string;
}
export const channelOutages = defineCollection<ChannelOutage>({ name: 'channel-outages' });

/** Recent pages of a user. Its ID is that of the user. */
export interface PageRate {
  /** Each page once, regardless of the number of attempts. */
  readonly sent: readonly { readonly id: string; readonly atMs: number }[];
  /** The page that includes the count of later pages; null if there is none. */
  readonly rest: {
    readonly id: string;
    readonly dueMs: number;
    /** Whether it was sent. Until then, further pages are counted. */
    readonly isSent: boolean;
    readonly counted: readonly { readonly id: string; readonly title: string }[];
  } | null;
}
export const pageRates = defineCollection<PageRate>({ name: 'page-rates' });
