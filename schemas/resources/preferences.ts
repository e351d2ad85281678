import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/** There are some six hundred, each of which takes half a millisecond to look up; letters may be large or small. */
const maxKnown = 5000;
const known = new Set<string>();

const isTimeZone = (name: string): boolean => {
  if (known.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    if (known.size >= maxKnown) known.clear();
    known.add(name);
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
  .describe('IANA name, for example Europe/Zurich; others are refused');

/** A user's preferences in an organization. Stored under its tenant; the document id is the user's id. */
export const Preferences = z.strictObject({
  timeZone: z.union([z.literal('browser'), TimeZone]).default('browser'),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  timeFormat: z.enum(['24h', '12h']).default('24h'),
  dateFormat: z.enum(['iso', 'day-month-year', 'month-day-year']).default('iso'),
  numberFormat: z.enum(['1,234.5', '1.234,5', '1 234,5', "1'234.5"]).default('1,234.5'),
  defaultProjectId: z.string().min(1).max(128).nullable().default(null).describe('Project that is selected by default'),
  contacts: z
    .array(
      z.strictObject({
        contactId: z.string().min(1).max(128),
        afterMinutes: z
          .int()
          .min(0)
          .max(30)
          .default(0)
          .describe('How long after the page began this contact is told, unless somebody sees to the incident by then'),
      }),
    )
    .max(20)
    .refine((listed) => new Set(listed.map(({ contactId }) => contactId)).size === listed.length, 'must name each once')
    .default([])
    .describe('Contacts by which I am paged; empty: all of mine at once, and mail to the account where I have none'),
});
export type Preferences = z.output<typeof Preferences>;

export const preferences = defineCollection<Preferences>({ name: 'preferences' });
