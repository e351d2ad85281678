import type { Notification } from '../notifications.ts';
import { defineCollection } from '../ports/documents.ts';

/**
 * A notification on its way to its channel. Its id is the notification's. When it is over it stays for a day without its content, so
 * that the same notification, read again from the bus, is known.
 */
export interface PendingDelivery {
  readonly channelId: string;
  /** What is told in order: the channel and the group. */
  readonly lane: string;
  readonly queuedAt: string;
  /** Attempts that began. */
  readonly attempts: number;
  /** Not tried before. While an attempt is under way, when another instance may take it over. */
  readonly dueAt: string;
  /** When it was delivered or given up; null until then. */
  readonly endedAt: string | null;
  /** Absent once it has ended. */
  readonly notification?: Notification | undefined;
}
export const pendingDeliveries = defineCollection<PendingDelivery>({
  name: 'pending-deliveries',
  indexes: [['endedAt']],
});

/** How a channel fares. Its id is the channel's. */
export interface ChannelHealth {
  /** Attempts that failed since the last success. */
  readonly failures: number;
  /** Since when an alert says that it fails; null where none does. */
  readonly failingSince: string | null;
  readonly lastDeliveredAt: string | null;
  readonly lastError: string | null;
}
export const channelHealths = defineCollection<ChannelHealth>({ name: 'channel-healths' });

/** The pages that a person was sent of late. Its id is the user's. */
export interface PageRate {
  /** Each page once, however often it was tried. */
  readonly sent: readonly { readonly id: string; readonly atMs: number }[];
  /** The page that is sent with the count of those that came after it; null where there is none. */
  readonly rest: {
    readonly id: string;
    readonly dueMs: number;
    /** Others are counted until then. */
    readonly isSent: boolean;
    readonly counted: readonly { readonly id: string; readonly title: string }[];
  } | null;
}
export const pageRates = defineCollection<PageRate>({ name: 'page-rates' });
