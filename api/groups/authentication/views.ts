import { z } from 'zod';

/** A user as others see them. */
export const Person = z.strictObject({ id: z.string(), email: z.string(), name: z.string() });
/** An organization, by name. */
export const Tenant = z.strictObject({ id: z.string(), name: z.string() });
