/** What browsers may send of the people who use them. A project can allow more than the defaults. */
import { z } from 'zod';

/** Privacy of the browser telemetry of a project. */
export const BrowserPrivacy = z.strictObject({
  queryParameters: z
    .array(z.string().min(1).max(128))
    .max(200)
    .default([])
    .describe('Names of URL parameters whose values are stored; all others are removed from URLs'),
  replayMasking: z
    .enum(['inputs', 'text', 'passwords'])
    .default('inputs')
    .describe('Texts that are masked in recordings: of inputs and editable elements, all, or of passwords only'),
  storesEmailAddresses: z.boolean().default(false).describe('Whether email addresses in texts are stored'),
  storesUserNames: z.boolean().default(false).describe('Whether names of users are stored; their ids always are'),
});
export type BrowserPrivacy = z.output<typeof BrowserPrivacy>;

export const defaultBrowserPrivacy: BrowserPrivacy = BrowserPrivacy.parse({});
