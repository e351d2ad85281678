import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

const apdexThresholdMs = z
  .number()
  .min(1)
  .max(3_600_000)
  .describe(
    'Apdex threshold in milliseconds: requests up to this duration are satisfied, and up to four times this duration are tolerated',
  );

/** Names of services may be any text, but of limited length. */
const ServiceName = z.string().min(1).max(512);

/** Apdex settings of services. One document per tenant. */
export const ServiceSettings = z.strictObject({
  apdexThresholdMs: apdexThresholdMs.default(500),
  services: z
    .array(z.strictObject({ service: ServiceName, apdexThresholdMs }))
    .max(2_000)
    .default([])
    .describe('Services with their own threshold'),
});
export type ServiceSettings = z.output<typeof ServiceSettings>;

export const serviceSettings = defineCollection<ServiceSettings>({ name: 'service-settings' });
export const serviceSettingsId = 'settings';
