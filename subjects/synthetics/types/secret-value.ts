import { z } from 'zod';

/** Whether a value that a step extracts is secret */
export const isSecretValue = z
  .boolean()
  .nullable()
  .default(null)
  .describe(
    'Whether the value is redacted in results; `null`: if its name is that of a secret, such as `token`, `otp` or `password`',
  );
