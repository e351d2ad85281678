/** Alerts organizations about schedules with gaps within the next seven days. */

import { defineJob } from '../../runtime/jobs.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { type OnCallGap, onCallGaps } from '../../schemas/resources/on-call-gap.ts';
import { onCallSchedules } from '../../schemas/resources/on-call-schedule.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { gapAlertSubject, gapReason, platformTransition } from '../../subjects/alerts/platform-alerts.ts';
import { readShifts } from '../../subjects/on-call/reading.ts';
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
  const { pieces } = await readShifts(documents.forTenant(tenantId), id, range);
  const gap = pieces.find(({ value }) => value.reason !== undefined);
  if (gap?.value.reason === undefined) return undefined;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { name, reason: gap.value.reason, from: iso(gap.fromMs), to: iso(gap.toMs) };
};

/**
 * Starts, updates or ends the alert of a schedule. It is published first and then stored, so that it cannot be lost: a
 * repeated publication has the same id.
 */
const updateAlert = async (
  ports: GapPorts,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  found: DetectedGap | undefined,
): Promise<void> => {
  const { documents, clock } = ports;
  const stored = documents.forTenant(tenantId).collection(onCallGaps);
  const storedGap = await stored.find(id);
  if (found === undefined && storedGap === undefined) return;
  const publishGap = (gap: OnCallGap, ended?: { readonly atMs: number; readonly reason: string }): Promise<void> =>
    publishTransition(
      ports,
      platformTransition(tenantId, gapAlertSubject(id, gap), { ...gap, reason: gapReason(gap) }, ended),
    );
  if (storedGap === undefined && found !== undefined) {
    const gap = { ...found, startedAt: new Date(clock.now()).toISOString() };
    await publishGap(gap);
    await stored.insert({ id, ...gap });
  } else if (storedGap !== undefined && found === undefined) {
    await publishGap(storedGap, { atMs: clock.now(), reason: 'somebody is on call for the next seven days' });
    await stored.delete(id);
  } else if (
    storedGap !== undefined &&
    found !== undefined &&
    (storedGap.from !== found.from || storedGap.to !== found.to)
  ) {
    const { name, reason, startedAt } = storedGap;
    await stored.replace(id, { name, reason, startedAt, from: found.from, to: found.to }, storedGap.version);
  }
};

/** Checks all schedules. A failed check does not affect the others. */
export const detectGaps = async (ports: GapPorts, signal: AbortSignal): Promise<void> => {
  const { documents, clock, log } = ports;
  const disabled = new Set<string>();
  for await (const { id } of documents.findInAllTenants(organizations, { disabled: true })) disabled.add(id);
  const checkedKeys = new Set<string>();
  const toScheduleKey = (tenantId: string, id: string): string => `${tenantId}/${id}`;
  const checkSchedule = (
    schedule: { readonly tenantId: string; readonly id: string },
    find: () => Promise<DetectedGap | undefined>,
  ) =>
    find()
      .then((found) => updateAlert(ports, schedule, found))
      .catch((error: unknown) =>
        log.warn(
          { error, tenantId: schedule.tenantId, schedule: schedule.id },
          'a schedule could not be checked for gaps',
        ),
      );
  for await (const schedule of documents.findInAllTenants(onCallSchedules)) {
    if (signal.aborted) return;
    if (disabled.has(schedule.tenantId)) continue;
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
