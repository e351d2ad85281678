/** Messages of invalid fields, as a sentence without its subject: the field. They replace the defaults of zod. */
import { z } from 'zod';

const describeSize = (origin: string, size: number): string => {
  const noun = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'item' : 'key';
  return `${size.toLocaleString('en')} ${noun}${size === 1 ? '' : 's'}`;
};

const isNumeric = (origin: string): boolean => ['number', 'int', 'bigint', 'date'].includes(origin);

const describeMinimum = (origin: string, minimum: number, isInclusive: boolean): string => {
  if (isNumeric(origin)) return isInclusive ? `must be at least ${minimum}` : `must be greater than ${minimum}`;
  return minimum === 1 ? 'must not be empty' : `must have at least ${describeSize(origin, minimum)}`;
};

const describeMaximum = (origin: string, maximum: number, isInclusive: boolean): string => {
  if (isNumeric(origin)) return isInclusive ? `must be at most ${maximum}` : `must be less than ${maximum}`;
  return `must have at most ${describeSize(origin, maximum)}`;
};

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const describeType = (expected: string, input: unknown): string | undefined => {
  if (input === undefined) return 'is required';
  const name = typeNames[expected];
  if (name === undefined) return undefined;
  return `must be ${name}${Number.isNaN(input) ? ', not NaN' : ''}`;
};

/** Returns undefined for other issues, which then have the message of zod. Schemas with a message of their own keep it. */
const describeIssue = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'too_small':
      return describeMinimum(issue.origin, Number(issue.minimum), issue.inclusive ?? true);
    case 'too_big':
      return describeMaximum(issue.origin, Number(issue.maximum), issue.inclusive ?? true);
    case 'invalid_type':
      return describeType(issue.expected, issue.input);
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'datetime' ? 'must be a time such as 2026-01-31T12:00:00Z' : undefined;
    default:
      return undefined;
  }
};

/** Sets the messages for all schemas of this process. */
export const setValidationMessages = (): void => void z.config({ customError: describeIssue });
