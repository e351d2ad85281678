/** Routing of alerts to receivers, after Alertmanager's model: one document per organization. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { TimeZone } from './preferences.ts';

export const matcherOperators = ['=', '!=', '=~', '!~'] as const;

/** A condition on one label. A missing label has the empty text. Regular expressions match the entire value. */
export const Matcher = z.strictObject({
  name: z.string().min(1).max(256).describe('Name of the label'),
  operator: z.enum(matcherOperators).default('='),
  value: z.string().max(4096).describe('Text, or an RE2 regular expression after =~ and !~'),
});
export type Matcher = z.output<typeof Matcher>;

const Matchers = z.array(Matcher).max(64);
const nameSchema = z.string().min(1).max(256);
const durationPattern = /^(?=.)(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?$/;
const unitsMs = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000];

/** Returns the milliseconds of `30s`, `5m`, `1h30m`, `1d` …; `undefined` for an invalid text. */
export const parseRoutingDurationMs = (text: string): number | undefined => {
  const match = durationPattern.exec(text);
  if (match === null) return undefined;
  return unitsMs.reduce((sum, unitMs, index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
};
const maxDurationMs = 366 * 86_400_000;
const Duration = z
  .string()
  .max(32)
  .refine((text) => (parseRoutingDurationMs(text) ?? Number.POSITIVE_INFINITY) <= maxDurationMs, {
    error: 'must be a duration of at most a year, such as 30s, 5m or 1h30m',
  });

/** One node of the route tree. Omitted fields are inherited from the parent route. */
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

/** Maximum depth of the tree. */
const maxRouteDepth = 12;

const createRouteSchema = (levels: number): z.ZodType<Route> =>
  z.strictObject({
    receiver: nameSchema.optional().describe('Name of a receiver; inherited from the parent route by default'),
    matchers: Matchers.default([]).describe(
      'Matchers, all of which must match; a route without matchers matches all alerts',
    ),
    continue: z.boolean().default(false).describe('Whether sibling routes are evaluated after this one matched'),
    groupBy: z
      .array(z.string().min(1).max(256))
      .max(64)
      .optional()
      .describe('Labels to group by; ["..."] puts each alert into its own group, [] puts all alerts into one group'),
    groupWait: Duration.optional().describe('Wait of a new group for more alerts; 30s at the root'),
    groupInterval: Duration.optional().describe(
      'Minimum interval between notifications about changes of a group; 5m at the root',
    ),
    repeatInterval: Duration.optional().describe('Interval of repeated notifications without changes; 4h at the root'),
    muteTimeIntervals: z
      .array(nameSchema)
      .max(64)
      .default([])
      .describe('Time intervals in which no notifications are sent'),
    activeTimeIntervals: z
      .array(nameSchema)
      .max(64)
      .default([])
      .describe('Time intervals outside of which no notifications are sent; empty for no restriction'),
    routes: (levels > 1 ? z.array(createRouteSchema(levels - 1)).max(500) : z.array(z.never()).max(0))
      .default([])
      .describe('Child routes, evaluated in order if this route matches'),
  }) as unknown as z.ZodType<Route>;

const dayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const monthNames = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];

/** First and last value of a range, both included. */
export type Bounds = readonly [first: number, last: number];

const parseBounds = (text: string, parsePart: (part: string) => number | undefined): Bounds | undefined => {
  const parts = text.split(':').map((part) => parsePart(part.trim().toLowerCase()));
  const [first, last = first] = parts;
  return parts.length > 2 || first === undefined || last === undefined || parts.includes(undefined)
    ? undefined
    : [first, last];
};
const parseWholeNumber = (part: string): number | undefined => (/^-?\d{1,4}$/.test(part) ? Number(part) : undefined);
const findNameIndex = (names: readonly string[], part: string): number | undefined =>
  names.includes(part) ? names.indexOf(part) : undefined;
const validateBounds = (bounds: Bounds | undefined, min: number, max: number): Bounds | undefined =>
  bounds !== undefined && bounds[0] >= min && bounds[1] <= max && bounds[0] <= bounds[1] ? bounds : undefined;

/** Parsers of the ranges of a time interval. They return `undefined` for an invalid text. */
export const timeRanges = {
  /** Minute of a day; `24:00` is its end. */
  parseMinute(text: string): number | undefined {
    const match = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/.exec(text);
    if (match === null) return undefined;
    return match[1] === undefined ? 1440 : Number(match[1]) * 60 + Number(match[2]);
  },
  /** 0 is Sunday. The last day may be before the first: `saturday:sunday` is the weekend, wherever weeks begin. */
  weekdays: (text: string) => parseBounds(text, (part) => findNameIndex(dayNames, part)),
  /** Negative days count from the end of the month: -1 is the last day. */
  daysOfMonth(text: string): Bounds | undefined {
    const bounds = parseBounds(text, parseWholeNumber);
    if (bounds === undefined || bounds.some((day) => day === 0 || Math.abs(day) > 31)) return undefined;
    const [first, last] = bounds;
    if (first < 0 && last > 0) return undefined;
    // Position of a negative day in the shortest month.
    const firstPossibleDay = (day: number): number => (day < 0 ? 28 + day : day);
    return firstPossibleDay(first) > firstPossibleDay(last) ? undefined : bounds;
  },
  months(text: string): Bounds | undefined {
    const parseMonth = (part: string): number | undefined => {
      const index = findNameIndex(monthNames, part);
      return index === undefined ? parseWholeNumber(part) : index + 1;
    };
    return validateBounds(parseBounds(text, parseMonth), 1, 12);
  },
  years: (text: string) => validateBounds(parseBounds(text, parseWholeNumber), 0, 9999),
};

const createRangeSchema = (reader: (text: string) => Bounds | undefined, error: string) =>
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
            (timeRanges.parseMinute(startTime) ?? Number.POSITIVE_INFINITY) <
            (timeRanges.parseMinute(endTime) ?? Number.NEGATIVE_INFINITY),
          { error: 'must be two times such as 09:00 and 17:30, the earlier first; 24:00 is the end of the day' },
        ),
    )
    .max(64)
    .optional()
    .describe('Times of the day; the end is exclusive'),
  weekdays: createRangeSchema(timeRanges.weekdays, 'must be a day or a range such as monday:friday'),
  daysOfMonth: createRangeSchema(
    timeRanges.daysOfMonth,
    'must be days from 1 to 31, or from -31 to -1, such as 1:7 or -3:-1',
  ),
  months: createRangeSchema(timeRanges.months, 'must be a month or a range, such as january or 6:8'),
  years: createRangeSchema(timeRanges.years, 'must be a year or a range such as 2026:2028'),
  location: TimeZone.default('UTC').describe('Time zone of the days and times'),
});
export type TimeInterval = z.output<typeof TimeInterval>;

const Receiver = z.strictObject({
  name: nameSchema,
  channelIds: z
    .array(z.string().min(1).max(128))
    .max(32)
    .default([])
    .describe('Notification channels; an empty list notifies nobody'),
  sendResolved: z.boolean().default(true).describe('Whether to send a notification when an alert is resolved'),
  escalationPolicyId: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      'Escalation policy; if set, each alert group of the receiver opens an incident, which the policy escalates',
    ),
});

const InhibitRule = z.strictObject({
  sourceMatchers: Matchers.default([]).describe('Alerts that inhibit others while they fire'),
  targetMatchers: Matchers.default([]).describe('Alerts that are inhibited'),
  equal: z.array(z.string().min(1).max(256)).max(64).default([]).describe('Labels that must be equal in both alerts'),
});
export type InhibitRule = z.output<typeof InhibitRule>;

/**
 * The document as callers write it. The objects that it references must exist: `subjects/alerts/routing/problems.ts`
 * validates that.
 */
export const AlertRouting = z.strictObject({
  route: createRouteSchema(maxRouteDepth).describe('Root route, with a receiver and without matchers'),
  receivers: z.array(Receiver).min(1).max(500),
  inhibitRules: z.array(InhibitRule).max(200).default([]),
  timeIntervals: z
    .array(z.strictObject({ name: nameSchema, timeIntervals: z.array(TimeInterval).max(64) }))
    .max(200)
    .default([]),
});
export type AlertRouting = z.output<typeof AlertRouting>;

/** Collection with one document, `alert-routing`, per organization that configured routing. */
export const alertRoutings = defineCollection<AlertRouting>({ name: 'alert-routings' });
export const alertRoutingId = 'alert-routing';

/** Default routing of an organization: all alerts go to a receiver without channels. */
export const defaultRouting: AlertRouting = AlertRouting.parse({
  route: { receiver: 'default', groupBy: ['alertname'] },
  receivers: [{ name: 'default' }],
});
