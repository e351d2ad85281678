/** Deletes dashboard snapshots that have expired. Expired snapshots cannot be read, even before they are deleted. */
import { z } from 'zod';
import { dashboardSnapshots } from '../../schemas/resources/dashboard-snapshot.ts';
import { removeSnapshots } from '../../subjects/dashboards/snapshots/remove.ts';
import { defineSchedule } from '../engine/schedule.ts';

const hourMs = 3_600_000;

/** Schedule with one unit of work per snapshot. A repeated run finds nothing to delete. */
export const snapshotExpiry = defineSchedule({
  name: 'expired-snapshots',
  summary: 'Deletes expired dashboard snapshots.',
  collection: dashboardSnapshots,
  everyMs: () => hourMs,
  missed: 'skip',
  state: { version: 1, schema: z.null(), empty: () => null },
  emits: {},
  async run({ id, expiresAt }, { tenantId, ports }) {
    if (Date.parse(expiresAt) <= Date.now()) await removeSnapshots(ports.documents.forTenant(tenantId), { id });
    return null;
  },
});
