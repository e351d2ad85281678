/** Figures and groups as parameters of a request write them: `measure=count,p95(duration)` and `groupBy=service,http.route`. */
import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { Measure } from '../query.ts';

/** Query parameters of an aggregate over records. */
export const aggregateParameters = {
  measure: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe(
      'Figures, with commas between them: count, rate (a second), distinct(field), sum(field), avg(field), min(field), max(field), p95(field), p99.9(field)',
    ),
  groupBy: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('Fields or attributes, with commas between them, named as in searches: service,http.route'),
  step: z.string().max(64).optional().describe('For series: how long a step is, such as 1m; without it a table'),
};

const functions = ['count', 'rate', 'distinct', 'sum', 'avg', 'min', 'max'] as const;

/** The figures that a text names. Throws `VALIDATION_FAILED` about `measure` for any other text. */
export const measuresOf = (text: string): Measure[] => partsOf(text).map(measureOf);

const measureOf = (text: string): Measure => {
  const [, name = '', field] = /^([a-z]+|p\d+(?:\.\d+)?)(?:\((.+)\))?$/s.exec(text) ?? [];
  const asked = field === undefined || field.trim() === '' ? {} : { field: field.trim() };
  const known = functions.find((each) => each === name);
  if (known !== undefined) {
    if (field === undefined && known !== 'count' && known !== 'rate')
      throw invalid('measure', `${known} needs a field: ${known}(duration)`);
    return { function: known, ...asked };
  }
  if (!/^p\d/.test(name))
    throw invalid('measure', `${text} is none of ${functions.join(', ')} and p95 (or any other percentile)`);
  const percentile = Number(name.slice(1));
  if (percentile > 100) throw invalid('measure', `${name} is no percentile: those are p0 to p100`);
  if (field === undefined) throw invalid('measure', `${name} needs a field: ${name}(duration)`);
  return { function: 'percentile', percentile, ...asked };
};

/** The fields that a text names, none for none. */
export const groupsOf = (text: string | undefined): string[] => (text === undefined ? [] : partsOf(text));

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
