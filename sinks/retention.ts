import { startRemovingDeletedRows } from '../runtime/deleted-rows.ts';
import { defineJob } from '../runtime/jobs.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';
import { organizations } from '../schemas/resources/organization.ts';
import { plans } from '../schemas/resources/plan.ts';
import { applyRetention, type RetentionPolicy } from './engine/retention.ts';

/** Yields the plan's retention in days, limited by that of the organization. */
export async function* readRetentionPolicies(
  documents: Pick<Documents, 'findInAllTenants'>,
): AsyncGenerator<RetentionPolicy> {
  const daysByPlan = new Map<string, RetentionPolicy['days']>();
  for await (const plan of documents.findInAllTenants(plans)) daysByPlan.set(plan.id, plan.retentionDays);
  for await (const { id, planId, retentionDays } of documents.findInAllTenants(organizations)) {
    const plan = daysByPlan.get(planId);
    if (plan === undefined) continue;
    const limitDays = (signal: keyof typeof plan): number =>
      Math.min(plan[signal], retentionDays[signal] ?? plan[signal]);
    yield {
      tenantId: id,
      days: { logs: limitDays('logs'), metrics: limitDays('metrics'), traces: limitDays('traces') },
    };
  }
}

export interface RetentionOptions {
  readonly columns: Columns;
  readonly documents: Pick<Documents, 'findInAllTenants'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes data beyond each tenant's retention. */
export const applyRetentionHourly = defineJob<RetentionOptions>({
  name: 'retention',
  summary: 'Deletes telemetry beyond the retention of its organization',
  everyMs: 3_600_000,
  scope: 'installation',
  async run({ columns, documents, clock, log }) {
    const result = await applyRetention(columns, readRetentionPolicies(documents), clock);
    await startRemovingDeletedRows({ columns, log });
    log.info({ ...result }, 'retention applied');
  },
});
