import { defineCollection } from '../ports/documents.ts';

/** That a schedule has nobody on call soon, of which its organization was told. The id is the schedule's; it is deleted when the alert ends. */
export interface OnCallGap {
  /** Name of the schedule, and why nobody is there, as they were told: the alert keeps its labels. */
  readonly name: string;
  readonly reason: string;
  /** The next gap; ISO-8601. */
  readonly from: string;
  readonly to: string;
  /** When it was told; ISO-8601. */
  readonly startedAt: string;
}
export const onCallGaps = defineCollection<OnCallGap>({ name: 'on-call-gaps' });
