import { z } from 'zod';
import { parseTime } from '../../../queries/time.ts';
import { createFieldError } from '../../errors.ts';

/** A parameter with a time */
export const Time = z.string().max(64).optional().describe('Opening time: ISO 8601, or an expression such as now-30d');

/** Parses the time of a parameter and returns it as ISO 8601, as it is stored. */
export const parseTimeParameter = (name: string, text: string, now: string): string => {
  const at = parseTime(text, Date.parse(now));
  if (at === undefined) throw createFieldError(name, 'must be a time in ISO-8601, or an expression such as now-30d');
  return new Date(Number(at / 1_000_000n)).toISOString();
};
