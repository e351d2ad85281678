import { z } from 'zod';

/** A number, or the reason why it is unknown. */
export const Known = z.strictObject({
  value: z.number().nullable(),
  reason: z.string().nullable().describe('Why there is no value; `null` if there is one'),
});
export type Known = z.output<typeof Known>;

export const known = (value: number): Known => ({ value, reason: null });
export const unknown = (reason: string): Known => ({ value: null, reason });

/** Returns the sum if all parts are known. */
export const sumOf = (parts: readonly Known[]): Known => {
  const missing = parts.find(({ value }) => value === null);
  return missing ?? known(parts.reduce((sum, { value }) => sum + (value ?? 0), 0));
};
