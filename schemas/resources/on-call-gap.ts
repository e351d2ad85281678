import { defineCollection } from '../ports/documents.ts';

/**
 * An upcoming gap in a schedule, about which its organization was notified. The ID is that of the schedule. It is
 * deleted when the alert ends.
 */
export interface OnCallGap {
  /**
   * Name of the schedule and reason for the gap at the time of the notification, so that the alert keeps its labels.
   */
  readonly name: string;
  readonly reason: string;
  /** Start of the next gap, in ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** Time of the notification, in ISO 8601. */
  readonly startedAt: string;
}
export const onCallGaps = defineCollection<OnCallGap>({ name: 'on-call-gaps' });
