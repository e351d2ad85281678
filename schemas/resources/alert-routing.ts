/** Which alerts are told to whom, and when: Alertmanager's model, one document an organization. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { TimeZone } from './preferences.ts';

export const matcherOperators = ['=', '!=', '=~', '!~'] as const;

/** A condition on one label. A label that is not there has the empty text; expressions match the whole value. */
export const Matcher = z.strictObject({
  name: z.string().min(1).max(256).describe('Name of the label'),
  operator: z.enum(matcherOperators).default('='),
  value: z.string().max(4096).describe('Text, or an expression in the syntax of RE2 after =~ and !~'),
});
export type Matcher = z.output<typeof Matcher>;

const Matchers = z.array(Matcher).max(64);
const name = z.string().min(1).max(256);
const durationText = /^(?=.)(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?$/;
const unitsMs = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000];

/** `30s`, `5m`, `1h30m`, `1d` … in milliseconds; `undefined` for anything else. */
export const routingDurationMs = (text: string): number | undefined => {
  const match = durationText.exec(text);
  if (match === null) return undefined;
  return unitsMs.reduce((sum, unitMs, index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
};
const maxDurationMs = 366 * 86_400_000;
const Duration = z
  .string()
  .max(32)
  .refine((text) => (routingDurationMs(text) ?? Number.POSITIVE_INFINITY) <= maxDurationMs, {
    error: 'must be a duration of at most a year, such as 30s, 5m or 1h30m',
  });

/** One place in the tree of routes. What is left out is taken from the route above. */
export interface Route {
  readonly receiver?: string | undefined;
  readonly matchers: readonly Matcher[];
  readonly continue: boolean;
  readonly groupBy?: readonly string[] | undefined;
  readonly groupWait?: string | undefined;
  readonly groupInterval?: string | undefined;
  readonly repeatInterval?: string | undefined;
  readonly muteTimeIntervals: readonly string[];
  readonly activeTimeIntervals: readonly string[];
  readonly routes: readonly Route[];
}

/** Levels of the tree. */
const deepest = 12;

const routeOf = (levels: number): z.ZodType<Route> =>
  z.strictObject({
    receiver: name.optional().describe('Name of a receiver; without it, that of the route above'),
    matchers: Matchers.default([]).describe('All must hold; a route without any takes all'),
    continue: z.boolean().default(false).describe('Whether routes beside it are tried after it has matched'),
    groupBy: z
      .array(z.string().min(1).max(256))
      .max(64)
      .optional()
      .describe('Labels whose values make a group; ["..."] makes each alert a group, [] makes one of all'),
    groupWait: Duration.optional().describe('How long a new group waits for more alerts; 30s at the root'),
    groupInterval: Duration.optional().describe('How long a group waits before it tells of changes; 5m at the root'),
    repeatInterval: Duration.optional().describe(
      'After how long it is told again that nothing changed; 4h at the root',
    ),
    muteTimeIntervals: z.array(name).max(64).default([]).describe('Nothing is told while one of them holds'),
    activeTimeIntervals: z.array(name).max(64).default([]).describe('With any, something is told only while one holds'),
    routes: (levels > 1 ? z.array(routeOf(levels - 1)).max(500) : z.array(z.never()).max(0))
      .default([])
      .describe('Tried in order for what this one has matched'),
  }) as unknown as z.ZodType<Route>;

const dayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const monthNames = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];

/** First and last of a range, both included. */
export type Bounds = readonly [first: number, last: number];

const boundsOf = (text: string, read: (part: string) => number | undefined): Bounds | undefined => {
  const parts = text.split(':').map((part) => read(part.trim().toLowerCase()));
  const [first, last = first] = parts;
  return parts.length > 2 || first === undefined || last === undefined || parts.includes(undefined)
    ? undefined
    : [first, last];
};
const whole = (part: string): number | undefined => (/^-?\d{1,4}$/.test(part) ? Number(part) : undefined);
const indexIn = (names: readonly string[], part: string): number | undefined =>
  names.includes(part) ? names.indexOf(part) : undefined;
const within = (bounds: Bounds | undefined, min: number, max: number): Bounds | undefined =>
  bounds !== undefined && bounds[0] >= min && bounds[1] <= max && bounds[0] <= bounds[1] ? bounds : undefined;

/** Readers of the ranges of a time interval: `undefined` for a text that is none. */
export const timeRanges = {
  /** Minutes of a day: `24:00` is its end. */
  minute(text: string): number | undefined {
    const match = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/.exec(text);
    if (match === null) return undefined;
    return match[1] === undefined ? 1440 : Number(match[1]) * 60 + Number(match[2]);
  },
  /** 0 is Sunday. */
  weekdays: (text: string) =>
    within(
      boundsOf(text, (part) => indexIn(dayNames, part)),
      0,
      6,
    ),
  /** Negative days count from the end of the month: -1 is the last. */
  daysOfMonth(text: string): Bounds | undefined {
    const bounds = boundsOf(text, whole);
    if (bounds === undefined || bounds.some((day) => day === 0 || Math.abs(day) > 31)) return undefined;
    const [first, last] = bounds;
    if (first < 0 && last > 0) return undefined;
    // In the shortest month a negative day is this one.
    const firstPossibleDay = (day: number): number => (day < 0 ? 28 + day : day);
    return firstPossibleDay(first) > firstPossibleDay(last) ? undefined : bounds;
  },
  months(text: string): Bounds | undefined {
    const month = (part: string): number | undefined => {
      const index = indexIn(monthNames, part);
      return index === undefined ? whole(part) : index + 1;
    };
    return within(boundsOf(text, month), 1, 12);
  },
  years: (text: string) => within(boundsOf(text, whole), 0, 9999),
};

const rangeText = (reader: (text: string) => Bounds | undefined, error: string) =>
  z
    .array(
      z
        .string()
        .max(64)
        .refine((text) => reader(text) !== undefined, { error }),
    )
    .max(64)
    .optional();

export const TimeInterval = z.strictObject({
  times: z
    .array(
      z
        .strictObject({ startTime: z.string().max(5), endTime: z.string().max(5) })
        .refine(
          ({ startTime, endTime }) =>
            (timeRanges.minute(startTime) ?? Number.POSITIVE_INFINITY) <
            (timeRanges.minute(endTime) ?? Number.NEGATIVE_INFINITY),
          { error: 'must be two times such as 09:00 and 17:30, the earlier first; 24:00 is the end of the day' },
        ),
    )
    .max(64)
    .optional()
    .describe('Of the day, without the last minute'),
  weekdays: rangeText(timeRanges.weekdays, 'must be a day or a range such as monday:friday'),
  daysOfMonth: rangeText(timeRanges.daysOfMonth, 'must be days from 1 to 31, or from -31 to -1, such as 1:7 or -3:-1'),
  months: rangeText(timeRanges.months, 'must be a month or a range, such as january or 6:8'),
  years: rangeText(timeRanges.years, 'must be a year or a range such as 2026:2028'),
  location: TimeZone.default('UTC').describe('Time zone in which days and times are read'),
});
export type TimeInterval = z.output<typeof TimeInterval>;

const Receiver = z.strictObject({
  name,
  channelIds: z
    .array(z.string().min(1).max(128))
    .max(32)
    .default([])
    .describe('Notification channels; none tells nobody'),
  sendResolved: z.boolean().default(true).describe('Whether it is told that an alert has ended'),
  escalationPolicyId: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('With one, each group that the receiver is told of is an incident, which the policy escalates'),
});

const InhibitRule = z.strictObject({
  sourceMatchers: Matchers.default([]).describe('Alerts that mute others while they fire'),
  targetMatchers: Matchers.default([]).describe('Alerts that are muted'),
  equal: z.array(z.string().min(1).max(256)).max(64).default([]).describe('Labels that must be equal in both'),
});
export type InhibitRule = z.output<typeof InhibitRule>;

/** The document as callers write it. What its parts name must be there: `subjects/alerts/routing/problems.ts` checks that. */
export const AlertRouting = z.strictObject({
  route: routeOf(deepest).describe('The root: it has a receiver and no matchers'),
  receivers: z.array(Receiver).min(1).max(500),
  inhibitRules: z.array(InhibitRule).max(200).default([]),
  timeIntervals: z
    .array(z.strictObject({ name, timeIntervals: z.array(TimeInterval).max(64) }))
    .max(200)
    .default([]),
});
export type AlertRouting = z.output<typeof AlertRouting>;

/** One document, `alert-routing`, of each organization that has one. */
export const alertRoutings = defineCollection<AlertRouting>({ name: 'alert-routings' });
export const alertRoutingId = 'alert-routing';

/** What holds for an organization that has written none: everything goes to a receiver without channels. */
export const defaultRouting: AlertRouting = AlertRouting.parse({
  route: { receiver: 'default', groupBy: ['alertname'] },
  receivers: [{ name: 'default' }],
});
