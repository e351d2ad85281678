/** Settings fields that several channel types share */
import { z } from 'zod';

/** URL for requests. The egress policy is enforced on connection. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url !== undefined && url.username === '' && url.password === '';
  }, 'must not contain credentials');

/** A secret for a header or a path */
export const token = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[\x21-\x7e]+$/, 'must be ASCII without spaces');
