import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';
import { TimeZone } from './preferences.ts';

/** A tenant. Stored under `platformTenant`, with the tenant's id as document id. */
export const Organization = z.strictObject({
  name: z.string().min(1).max(256),
  planId: z.string().describe('Id of the plan'),
  /** Days kept per signal where shorter than the plan's. */
  retentionDays: z
    .strictObject({ logs: z.int().positive(), metrics: z.int().positive(), traces: z.int().positive() })
    .partial()
    .default({}),
  /** Over how many partitions of a topic the tenant's telemetry is spread. The operator sets it (`oiq organization shards`). */
  shards: z.int().min(1).max(64).default(1),
  disabled: z.boolean().default(false),
  timeZone: TimeZone.optional().describe('Time zone of reports and mail; UTC if absent'),
  /** Set while it is closed: then it is disabled, and everything in it is erased after `eraseAt`. */
  closed: z
    .strictObject({ at: z.iso.datetime(), eraseAt: z.iso.datetime(), erased: z.boolean() })
    .nullable()
    .optional(),
});
export type Organization = z.output<typeof Organization>;

export const organizations = defineCollection<Organization>({ name: 'organizations' });
export const organizationsTenant = platformTenant;
