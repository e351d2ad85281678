/** Times in which work is done, once or again and again: alerts that match are muted, as silences mute. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { Matcher } from './alert-routing.ts';
import { WallTime } from './on-call-schedule.ts';
import { TimeZone } from './preferences.ts';

/** What callers write of a window. */
export const MaintenanceWindowFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  timeZone: TimeZone,
  startsAt: WallTime.describe('When it begins first, on the wall clock of the time zone'),
  durationMinutes: z
    .int()
    .min(1)
    .max(31 * 24 * 60),
  recurrence: z
    .string()
    .min(1)
    .max(512)
    .nullable()
    .default(null)
    .describe('RRULE of RFC 5545, such as FREQ=WEEKLY;BYDAY=SU; null: once'),
  matchers: z
    .array(Matcher)
    .max(64)
    .default([])
    .describe('All must hold; without any, all alerts of the projects are muted'),
  projectIds: z
    .array(z.string().min(1).max(128))
    .max(100)
    .default([])
    .describe('Only alerts of rules of these projects; without any, of the whole organization'),
  excludedFromSlos: z.boolean().default(false).describe('Whether service level objectives leave its times out'),
});

/** A window as it is stored. */
export interface MaintenanceWindow extends z.output<typeof MaintenanceWindowFields> {
  /** Id of the user or service account who made it. */
  readonly createdBy: string;
}
export const maintenanceWindows = defineCollection<MaintenanceWindow>({
  name: 'maintenance-windows',
  unique: [['name']],
});
