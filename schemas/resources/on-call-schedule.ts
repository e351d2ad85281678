/** Who is on call, by turns: layers with rotations, restrictions, and overrides of people's days. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { TimeInterval } from './alert-routing.ts';
import { TimeZone } from './preferences.ts';

/** What a turn lasts. */
export const rotationUnits = ['hours', 'days', 'weeks', 'months'] as const;

const isWallTime = (text: string): boolean => {
  const ms = Date.parse(`${text}:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
};
/** A date and time as the clock on the wall shows it. */
export const WallTime = z
  .string()
  .max(16)
  .regex(/^20\d\d-\d\d-\d\dT\d\d:\d\d$/, 'must be a date and time such as 2026-03-23T09:00, without an offset')
  .refine(isWallTime, 'must be a day that the calendar has')
  .describe('Date and time on the wall clock of the time zone');

const UserId = z.string().min(1).max(128);

/** A restriction is a time interval of routing; its time zone is the schedule's unless it names one. */
export const Restriction = TimeInterval.extend({
  location: TimeZone.optional().describe('Time zone in which days and times are read; that of the schedule if absent'),
});

const Layer = z.strictObject({
  name: z.string().min(1).max(256),
  startsAt: WallTime.describe('First hand-over, on the wall clock of the schedule; nobody is on call before it'),
  rotation: z.strictObject({
    every: z.number().int().min(1).max(1000).describe('How many units a turn lasts'),
    unit: z
      .enum(rotationUnits)
      .describe(
        'Hours that divide 24 stay on the wall clock, others are elapsed time; a month without the day of `startsAt` hands over on its last',
      ),
  }),
  participants: z
    .array(z.array(UserId).max(16))
    .min(1)
    .max(100)
    .describe('One list of users a turn, in order; an empty list is a turn in which the layer has nobody'),
  restrictions: z
    .array(Restriction)
    .max(16)
    .default([])
    .describe('With any, the layer is on call only while the wall clock shows one of them'),
});
export type Layer = z.output<typeof Layer>;

/** What callers write of a schedule. A later layer wins over an earlier one wherever it has somebody. */
export const OnCallScheduleFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  timeZone: TimeZone,
  layers: z
    .array(Layer)
    .max(20)
    .refine((layers) => new Set(layers.map(({ name }) => name)).size === layers.length, 'must have names of their own')
    .describe('From the lowest to the uppermost: where a later layer has somebody, it wins'),
});

/** What callers write of an override. */
export const OverrideFields = z
  .strictObject({
    from: z.iso.datetime({ offset: true }),
    to: z.iso.datetime({ offset: true }),
    userIds: z.array(UserId).min(1).max(16),
    layer: z.string().min(1).max(256).optional().describe('Name of the layer that it replaces; all of them if absent'),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], error: 'must be after from' });

/** People who are on call in place of a layer's, or of all. A later one in the list wins. */
export type Override = z.output<typeof OverrideFields> & { readonly id: string };

/** What a schedule says from a time on. Versions are kept, so what was stays as it was. */
export interface OnCallVersion extends z.output<typeof OnCallScheduleFields> {
  readonly overrides: readonly Override[];
  /** ISO-8601. */
  readonly since: string;
}

/** A schedule as it is now. */
export interface OnCallSchedule extends z.output<typeof OnCallScheduleFields> {
  /** Those that are over are left out when one is added or deleted; versions keep them. */
  readonly overrides: readonly Override[];
  /** All people that it names, so that they are found by it. */
  readonly userIds: readonly string[];
}
export const onCallSchedules = defineCollection<OnCallSchedule>({
  name: 'on-call-schedules',
  unique: [['name']],
  indexes: [['userIds']],
});

/** A version of a schedule. Versions are kept for good, those of a deleted schedule too. */
export interface StoredOnCallVersion extends OnCallVersion {
  readonly scheduleId: string;
  /** Version of the schedule's document. */
  readonly number: number;
  /** When the next one took its place, or the schedule was deleted; `null` while it is in force. */
  readonly until: string | null;
}
export const onCallVersions = defineCollection<StoredOnCallVersion>({
  name: 'on-call-versions',
  indexes: [['scheduleId', 'until'], ['until']],
  unique: [['scheduleId', 'number']],
});
