/** Messages of invalid fields. */
import test from 'ava';
import { z } from 'zod';
import { setValidationMessages } from '../../api/kernel/validation-messages.ts';

setValidationMessages();

for (const [schema, value, message] of [
  [z.string(), undefined, 'is required'],
  [z.string(), 5, 'must be a string'],
  [z.int(), 1.5, 'must be an integer'],
  [z.coerce.number(), 'ten', 'must be a number, not NaN'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(3), 'ab', 'must have at least 3 characters'],
  [z.string().max(1000), 'a'.repeat(1001), 'must have at most 1,000 characters'],
  [z.array(z.int()).min(1), [], 'must not be empty'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 item'],
  [z.int().min(1), 0, 'must be at least 1'],
  [z.number().positive(), 0, 'must be greater than 0'],
  [z.number().max(5), 9, 'must be at most 5'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.enum(['open', 'closed']), 'ajar', 'must be one of open, closed'],
  [z.literal('http'), 'ftp', 'must be http'],
  [z.iso.datetime(), 'yesterday', 'must be a time such as 2026-01-31T12:00:00Z'],
  [z.string().min(1, 'choose a name'), '', 'choose a name'],
] as const)
  test(`${JSON.stringify(value)?.slice(0, 20)} in a field that "${message}"`, (t) => {
    t.deepEqual(
      schema.safeParse(value).error?.issues.map((issue) => issue.message),
      [message],
    );
  });
