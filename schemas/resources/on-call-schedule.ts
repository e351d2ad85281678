/** On-call schedules: layers with rotations, restrictions, and overrides. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { TimeInterval } from './alert-routing.ts';
import { TimeZone } from './preferences.ts';

/** Units of the length of a shift. */
export const rotationUnits = ['hours', 'days', 'weeks', 'months'] as const;

const isExistingDate = (text: string): boolean => {
  const ms = Date.parse(`${text}:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
};
/** A date and wall-clock time. */
export const WallTime = z
  .string()
  .max(16)
  .regex(/^20\d\d-\d\d-\d\dT\d\d:\d\d$/, 'must be a date and time such as 2026-03-23T09:00, without an offset')
  .refine(isExistingDate, 'must be an existing date')
  .describe('Date and time on the wall clock of the time zone');

const UserId = z.string().min(1).max(128);

/** A restriction is a time interval as in alert routing. Its time zone defaults to that of the schedule. */
export const Restriction = TimeInterval.extend({
  location: TimeZone.optional().describe('Time zone of the days and times; by default that of the schedule'),
});

const Layer = z.strictObject({
  name: z.string().min(1).max(256),
  startsAt: WallTime.describe('First handoff, in wall-clock time of the schedule; nobody is on call before it'),
  rotation: z.strictObject({
    every: z.number().int().min(1).max(1000).describe('Length of a shift, in units'),
    unit: z
      .enum(rotationUnits)
      .describe(
        'Unit; hours that divide 24 follow the wall clock, other hours are elapsed time; a month without the day of `startsAt` hands off on its last day',
      ),
  }),
  participants: z
    .array(z.array(UserId).max(16))
    .min(1)
    .max(100)
    .describe('Users of each shift, in order; an empty list is a shift with nobody on call in the layer'),
  restrictions: z
    .array(Restriction)
    .max(16)
    .default([])
    .describe('Restrictions; the layer is on call only during one of them, empty for no restriction'),
});
export type Layer = z.output<typeof Layer>;

/** Fields of a schedule that callers write. A later layer takes precedence whenever it has somebody on call. */
export const OnCallScheduleFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  timeZone: TimeZone,
  layers: z
    .array(Layer)
    .max(20)
    .refine((layers) => new Set(layers.map(({ name }) => name)).size === layers.length, 'must have unique names')
    .describe('Layers from lowest to highest: a later layer takes precedence whenever it has somebody on call'),
});

/** Fields of an override that callers write. */
export const OverrideFields = z
  .strictObject({
    from: z.iso.datetime({ offset: true }),
    to: z.iso.datetime({ offset: true }),
    userIds: z.array(UserId).min(1).max(16),
    layer: z.string().min(1).max(256).optional().describe('Name of the replaced layer; all layers if absent'),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], error: 'must be after from' });

/** Replaces the on-call users of a layer, or of all layers. Later overrides in the list take precedence. */
export type Override = z.output<typeof OverrideFields> & { readonly id: string };

/** The schedule from a time on. Versions are retained, so that past shifts do not change. */
export interface OnCallVersion extends z.output<typeof OnCallScheduleFields> {
  readonly overrides: readonly Override[];
  /** ISO-8601. */
  readonly since: string;
}

/** The current schedule. */
export interface OnCallSchedule extends z.output<typeof OnCallScheduleFields> {
  /** Overrides. Adding or deleting one removes those in the past; versions retain them. */
  readonly overrides: readonly Override[];
  /** All users of the schedule, for lookups by user. */
  readonly userIds: readonly string[];
}
export const onCallSchedules = defineCollection<OnCallSchedule>({
  name: 'on-call-schedules',
  unique: [['name']],
  indexes: [['userIds']],
});

/** A stored version of a schedule. Versions are retained permanently, also those of deleted schedules. */
export interface StoredOnCallVersion extends OnCallVersion {
  readonly scheduleId: string;
  /** Version of the schedule's document. */
  readonly number: number;
  /** When it was replaced, or the schedule was deleted; `null` while it is in force. */
  readonly until: string | null;
}
export const onCallVersions = defineCollection<StoredOnCallVersion>({
  name: 'on-call-versions',
  indexes: [['scheduleId', 'until'], ['until']],
  unique: [['scheduleId', 'number']],
});
