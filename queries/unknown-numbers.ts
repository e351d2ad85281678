import { z } from 'zod';

/** A number, or the reason why it is unknown. */
export const NumberOrReason = z.strictObject({
  value: z.number().nullable(),
  reason: z.string().nullable().describe('Why there is no value; `null` if there is one'),
});
export type NumberOrReason = z.output<typeof NumberOrReason>;

export const toKnownNumber = (value: number): NumberOrReason => ({ value, reason: null });
export const toUnknownNumber = (reason: string): NumberOrReason => ({ value: null, reason });

/** Returns the sum if all parts are known. */
export const addNumbers = (parts: readonly NumberOrReason[]): NumberOrReason => {
  const firstUnknown = parts.find(({ value }) => value === null);
  return firstUnknown ?? toKnownNumber(parts.reduce((sum, { value }) => sum + (value ?? 0), 0));
};
