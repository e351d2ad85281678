import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/**
 * Cache of valid names, because each lookup takes half a millisecond. There are about six hundred time zones, but more
 * spellings of them, because names are case-insensitive.
 */
const maxCachedZones = 5000;
const validZones = new Set<string>();

const isTimeZone = (name: string): boolean => {
  if (validZones.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    if (validZones.size >= maxCachedZones) validZones.clear();
    validZones.add(name);
    return true;
  } catch {
    return false;
  }
};

/** A time zone by its IANA name. */
export const TimeZone = z
  .string()
  .min(1)
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone, for example Europe/Zurich')
  .describe('IANA time zone, for example Europe/Zurich');

/** A user's preferences in an organization. Stored under its tenant; the document ID is the user ID. */
export const Preferences = z.strictObject({
  timeZone: z.union([z.literal('browser'), TimeZone]).default('browser'),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  timeFormat: z.enum(['24h', '12h']).default('24h'),
  dateFormat: z.enum(['iso', 'day-month-year', 'month-day-year']).default('iso'),
  numberFormat: z.enum(['1,234.5', '1.234,5', '1 234,5', "1'234.5"]).default('1,234.5'),
  defaultProjectId: z.string().min(1).max(128).nullable().default(null).describe('Default project'),
  contacts: z
    .array(
      z.strictObject({
        contactId: z.string().min(1).max(128),
        afterMinutes: z
          .int()
          .min(0)
          .max(30)
          .default(0)
          .describe('Delay of this contact after the start of the page, unless the incident is acknowledged earlier'),
      }),
    )
    .max(20)
    .refine(
      (contacts) => new Set(contacts.map(({ contactId }) => contactId)).size === contacts.length,
      'must contain each contact only once',
    )
    .default([])
    .describe('Contacts for pages to me; empty for all my contacts at once, or email to the account if I have none'),
});
export type Preferences = z.output<typeof Preferences>;

export const preferences = defineCollection<Preferences>({ name: 'preferences' });
