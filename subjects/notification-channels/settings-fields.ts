/** Fields that settings of several types of channel share. */
import { z } from 'zod';

/** An address that requests go to. Networks are checked when it is connected to. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2048)
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url !== undefined && url.username === '' && url.password === '';
  }, 'must not contain a user name');

/** A secret that goes into a header or a path. */
export const token = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[\x21-\x7e]+$/, 'must be ASCII without spaces');
