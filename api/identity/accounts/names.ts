import { z } from 'zod';

/** A name chosen by a user: one line, without characters that reverse the text direction around it. */
const createOneLineText = (description: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(256)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects these characters
    .regex(/^[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*$/, 'must be one line, without bidirectional controls')
    .describe(description);

export const PersonName = createOneLineText('Display name of the person');
export const OrganizationName = createOneLineText('Name of the organization');

/** An e-mail address, converted to lower case */
export const EmailAddress = z
  .string()
  .trim()
  .max(320)
  .regex(/^[^@]{0,64}(?:@|$)/, 'has more than 64 characters before the @')
  .transform((text) => text.toLowerCase())
  .pipe(z.email('must be an e-mail address'));
