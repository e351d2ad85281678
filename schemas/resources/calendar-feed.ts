import { defineCollection } from '../ports/documents.ts';

/** An address at which calendars follow shifts: those of a schedule, or of a person in all schedules. */
export interface CalendarFeed {
  /** `null` for a person's. */
  readonly scheduleId: string | null;
  /** Who made it: its shifts are theirs where it is a person's. It answers no more once they are not of the organization. */
  readonly userId: string;
  /** SHA-256 of the token, which itself is not kept. */
  readonly tokenHash: string;
}
export const calendarFeeds = defineCollection<CalendarFeed>({
  name: 'calendar-feeds',
  indexes: [['userId'], ['scheduleId']],
});
