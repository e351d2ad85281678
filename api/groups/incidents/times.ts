import { z } from 'zod';
import { parseTime } from '../../../queries/time.ts';
import { invalid } from '../../errors.ts';

/** A parameter that names a time. */
export const Time = z.string().max(64).optional().describe('When it was opened: ISO-8601, or such as now-30d');

/** The time that a parameter names, as documents have it. */
export const timeOf = (name: string, text: string, now: string): string => {
  const at = parseTime(text, Date.parse(now));
  if (at === undefined) throw invalid(name, 'must be a time in ISO-8601, or an expression such as now-30d');
  return new Date(Number(at / 1_000_000n)).toISOString();
};
