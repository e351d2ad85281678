import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

const apdexThresholdMs = z
  .number()
  .min(1)
  .max(3_600_000)
  .describe('Requests up to it satisfy, up to four times as long are tolerated; milliseconds');

/** Names of services are any text, but not without end. */
const ServiceName = z.string().min(1).max(512);

/** How services are judged. One document of a tenant. */
export const ServiceSettings = z.strictObject({
  apdexThresholdMs: apdexThresholdMs.default(500),
  services: z
    .array(z.strictObject({ service: ServiceName, apdexThresholdMs }))
    .max(2_000)
    .default([])
    .describe('Services with a threshold of their own'),
});
export type ServiceSettings = z.output<typeof ServiceSettings>;

export const serviceSettings = defineCollection<ServiceSettings>({ name: 'service-settings' });
export const serviceSettingsId = 'settings';
