import { z } from 'zod';
import { isZone } from '../../../queries/time-text.ts';

/** In which zone a question is asked. */
export const timeZoneField = z
  .string()
  .max(64)
  .default('UTC')
  .refine(isZone, 'is no time zone: write one such as Europe/Zurich')
  .describe('In which days and hours of the question are: Europe/Zurich');
