/** Deletes snapshots of dashboards that have expired. From their expiry on nobody can read them, deleted or not. */
import { z } from 'zod';
import { dashboardSnapshots } from '../../schemas/resources/dashboard-snapshot.ts';
import { removeSnapshots } from '../../subjects/dashboards/snapshots/remove.ts';
import { defineSchedule } from '../engine/schedule.ts';

const hourMs = 3_600_000;

/** One snapshot is one thing. A run that is repeated finds nothing to delete. */
export const snapshotExpiry = defineSchedule({
  name: 'expired-snapshots',
  summary: 'Deletes snapshots of dashboards that have expired.',
  collection: dashboardSnapshots,
  everyMs: () => hourMs,
  missed: 'skip',
  state: { version: 1, schema: z.null(), empty: () => null },
  emits: {},
  async run({ id, expiresAt }, { tenantId, ports }) {
    if (Date.parse(expiresAt) <= Date.now()) await removeSnapshots(ports.documents.of(tenantId), { id });
    return null;
  },
});
