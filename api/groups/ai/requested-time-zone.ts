import { z } from 'zod';
import { isValidTimeZone } from '../../../queries/time-text.ts';

/** Time zone of a question. */
export const timeZoneField = z
  .string()
  .max(64)
  .default('UTC')
  .refine(isValidTimeZone, 'is not a time zone: use one such as Europe/Zurich')
  .describe('Time zone of the days and hours in the question, such as Europe/Zurich');
