import { defineCollection } from '../ports/documents.ts';

/** A URL from which calendars read shifts: those of a schedule, or of a person in all schedules. */
export interface CalendarFeed {
  /** `null` for a personal feed. */
  readonly scheduleId: string | null;
  /**
   * User who created the feed. A personal feed contains that user's shifts. The feed stops working when the user leaves
   * the organization.
   */
  readonly userId: string;
  /** SHA-256 of the token. The token itself is not stored. */
  readonly tokenHash: string;
}
export const calendarFeeds = defineCollection<CalendarFeed>({
  name: 'calendar-feeds',
  indexes: [['userId'], ['scheduleId']],
});
