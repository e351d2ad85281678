/** Alerts organizations about schedules with gaps within the next seven days. */

import { defineJob } from '../../runtime/jobs.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { type OnCallGap, onCallGaps } from '../../schemas/resources/on-call-gap.ts';
import { onCallSchedules } from '../../schemas/resources/on-call-schedule.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { createGapAlertSubject, describeGap, platformTransition } from '../../subjects/alerts/platform-alerts.ts';
import { readShifts } from '../../subjects/on-call/read-on-call.ts';
import { publishTransition, type TransitionPublisher } from './notify.ts';

const lookAheadMs = 7 * 86_400_000;

export interface GapPorts extends TransitionPublisher {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
}

type DetectedGap = Pick<OnCallGap, 'name' | 'reason' | 'from' | 'to'>;

const findFirstGap = async (
  documents: Documents,
  { tenantId, id, name }: { readonly tenantId: string; readonly id: string; readonly name: string },
  nowMs: number,
): Promise<DetectedGap | undefined> => {
  const range = { fromMs: nowMs, toMs: nowMs + lookAheadMs, nowMs };
  const { slices } = await readShifts(documents.forTenant(tenantId), id, range);
  const gap = slices.find(({ value }) => value.reason !== undefined);
  if (gap?.value.reason === undefined) return undefined;
  const toIsoTime = (ms: number): string => new Date(ms).toISOString();
  return { name, reason: gap.value.reason, from: toIsoTime(gap.fromMs), to: toIsoTime(gap.toMs) };
};

/**
 * Starts, updates or ends the alert of a schedule. It is published first and then stored, so that it cannot be lost: a
 * repeated publication has the same id.
 */
const updateAlert = async (
  ports: GapPorts,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  detectedGap: DetectedGap | undefined,
): Promise<void> => {
  const { documents, clock } = ports;
  const gapCollection = documents.forTenant(tenantId).collection(onCallGaps);
  const storedGap = await gapCollection.find(id);
  if (detectedGap === undefined && storedGap === undefined) return;
  const publishGap = (gap: OnCallGap, end?: { readonly atMs: number; readonly reason: string }): Promise<void> =>
    publishTransition(
      ports,
      platformTransition(tenantId, createGapAlertSubject(id, gap), { ...gap, reason: describeGap(gap) }, end),
    );
  if (storedGap === undefined && detectedGap !== undefined) {
    const gap = { ...detectedGap, startedAt: new Date(clock.now()).toISOString() };
    await publishGap(gap);
    await gapCollection.insert({ id, ...gap });
  } else if (storedGap !== undefined && detectedGap === undefined) {
    await publishGap(storedGap, { atMs: clock.now(), reason: 'there is no gap in the next seven days' });
    await gapCollection.delete(id);
  } else if (
    storedGap !== undefined &&
    detectedGap !== undefined &&
    (storedGap.from !== detectedGap.from || storedGap.to !== detectedGap.to)
  ) {
    const { name, reason, startedAt } = storedGap;
    await gapCollection.replace(
      id,
      { name, reason, startedAt, from: detectedGap.from, to: detectedGap.to },
      storedGap.version,
    );
  }
};

/** Checks all schedules. A failed check does not affect the others. */
export const detectGaps = async (ports: GapPorts, signal: AbortSignal): Promise<void> => {
  const { documents, clock, log } = ports;
  const disabledTenantIds = new Set<string>();
  for await (const { id } of documents.findInAllTenants(organizations, { disabled: true })) disabledTenantIds.add(id);
  const checkedKeys = new Set<string>();
  const toScheduleKey = (tenantId: string, id: string): string => `${tenantId}/${id}`;
  const checkSchedule = (
    schedule: { readonly tenantId: string; readonly id: string },
    findGap: () => Promise<DetectedGap | undefined>,
  ) =>
    findGap()
      .then((detectedGap) => updateAlert(ports, schedule, detectedGap))
      .catch((error: unknown) =>
        log.warn(
          { error, tenantId: schedule.tenantId, schedule: schedule.id },
          'a schedule could not be checked for gaps',
        ),
      );
  for await (const schedule of documents.findInAllTenants(onCallSchedules)) {
    if (signal.aborted) return;
    if (disabledTenantIds.has(schedule.tenantId)) continue;
    checkedKeys.add(toScheduleKey(schedule.tenantId, schedule.id));
    await checkSchedule(schedule, () => findFirstGap(documents, schedule, clock.now()));
  }
  // End the alerts of deleted schedules, and of disabled organizations.
  for await (const { tenantId, id } of documents.findInAllTenants(onCallGaps))
    if (!checkedKeys.has(toScheduleKey(tenantId, id))) await checkSchedule({ tenantId, id }, async () => undefined);
};

export const onCallGapsJob = defineJob<GapPorts>({
  name: 'on-call-gaps',
  summary: 'Alert organizations about upcoming gaps in schedules',
  everyMs: 60_000,
  scope: 'installation',
  run: detectGaps,
});
