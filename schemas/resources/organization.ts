import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';
import { TimeZone } from './preferences.ts';

/** A tenant. Stored under `platformTenant`, with the tenant ID as document ID. */
export const Organization = z.strictObject({
  name: z.string().min(1).max(256),
  planId: z.string().describe('Plan ID'),
  /** Retention in days by telemetry signal, if shorter than that of the plan. */
  retentionDays: z
    .strictObject({ logs: z.int().positive(), metrics: z.int().positive(), traces: z.int().positive() })
    .partial()
    .default({}),
  /** Number of partitions of a topic for the tenant's telemetry. The operator sets it (`oiq organization shards`). */
  shards: z.int().min(1).max(64).default(1),
  disabled: z.boolean().default(false),
  timeZone: TimeZone.optional().describe('Time zone of reports and emails; UTC if absent'),
  /** Present while the organization is closed: it is disabled, and all its data is erased after `eraseAt`. */
  closed: z
    .strictObject({ at: z.iso.datetime(), eraseAt: z.iso.datetime(), erased: z.boolean() })
    .nullable()
    .optional(),
});
export type Organization = z.output<typeof Organization>;

export const organizations = defineCollection<Organization>({ name: 'organizations' });
export const organizationsTenant = platformTenant;
