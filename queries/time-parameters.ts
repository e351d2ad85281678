/** Schemas of times and durations in requests. */
import { z } from 'zod';
import { parseDuration, parseTime } from './time.ts';

/** Formats of a point in time, for descriptions. */
export const timeFormats = 'ISO 8601, now-15m, now/d or epoch milliseconds';
/** Problem of a text in none of these formats. */
export const timeFormatProblem = 'must be ISO-8601, an expression such as now-15m or now/d, or epoch milliseconds';

/** Parameter with a point in time. */
export const timeParameter = z.string().min(1).max(64).describe(timeFormats);

/** A point in time. It is stored as the text that was sent, so that `now-1h` stays relative. */
export const TimeText = z
  .string()
  .max(64)
  .refine((text) => parseTime(text, 0) !== undefined, timeFormatProblem);

/** A duration. It is stored as the text that was sent. */
export const DurationText = z
  .string()
  .max(32)
  .refine((text) => parseDuration(text) !== undefined, 'must be a duration such as 30s, 5m or 1h');
