/** Maintenance windows, one-time or recurring: matching alerts are muted, as by silences. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { Matcher } from './alert-routing.ts';
import { WallTime } from './on-call-schedule.ts';
import { TimeZone } from './preferences.ts';

/** Fields of a window that callers write. */
export const MaintenanceWindowFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  timeZone: TimeZone,
  startsAt: WallTime.describe('First start, in wall-clock time of the time zone'),
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
    .describe('RRULE of RFC 5545, such as FREQ=WEEKLY;BYDAY=SU; `null` for a one-time window'),
  matchers: z
    .array(Matcher)
    .max(64)
    .default([])
    .describe('Matchers, all of which must match; empty to mute all alerts of the projects'),
  projectIds: z
    .array(z.string().min(1).max(128))
    .max(100)
    .default([])
    .describe('Projects whose alerts are muted; empty for the entire organization'),
  excludedFromSlos: z.boolean().default(false).describe('Whether SLOs exclude the times of the window'),
});

/** A stored maintenance window. */
export interface MaintenanceWindow extends z.output<typeof MaintenanceWindowFields> {
  /** ID of the user or service account that created it. */
  readonly createdBy: string;
}
export const maintenanceWindows = defineCollection<MaintenanceWindow>({
  name: 'maintenance-windows',
  unique: [['name']],
});
