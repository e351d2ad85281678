/** Alerts organizations about schedules with gaps within the next seven days. */

import { defineJob } from '../../runtime/jobs.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { type OnCallGap, onCallGaps } from '../../schemas/resources/on-call-gap.ts';
import { onCallSchedules } from '../../schemas/resources/on-call-schedule.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { aboutGap, gapReason, platformTransition } from '../../subjects/alerts/platform-alerts.ts';
import { readPieces } from '../../subjects/on-call/reading.ts';
import { publishTransition, type TransitionPublisher } from './notify.ts';

const aheadMs = 7 * 86_400_000;

export interface GapPorts extends TransitionPublisher {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
}

type Found = Pick<OnCallGap, 'name' | 'reason' | 'from' | 'to'>;

const firstGap = async (
  documents: Documents,
  { tenantId, id, name }: { readonly tenantId: string; readonly id: string; readonly name: string },
  nowMs: number,
): Promise<Found | undefined> => {
  const range = { fromMs: nowMs, toMs: nowMs + aheadMs, nowMs };
  const { pieces } = await readPieces(documents.of(tenantId), id, range);
  const gap = pieces.find(({ value }) => value.reason !== undefined);
  if (gap?.value.reason === undefined) return undefined;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { name, reason: gap.value.reason, from: iso(gap.fromMs), to: iso(gap.toMs) };
};

/**
 * Starts, updates or ends the alert of a schedule. Publishes first, then stores; a repeated publication is the same
 * alert.
 */
const updateAlert = async (
  ports: GapPorts,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  found: Found | undefined,
): Promise<void> => {
  const { documents, clock } = ports;
  const stored = documents.of(tenantId).collection(onCallGaps);
  const known = await stored.find(id);
  if (found === undefined && known === undefined) return;
  const transit = (gap: OnCallGap, ended?: { readonly atMs: number; readonly reason: string }): Promise<void> =>
    publishTransition(
      ports,
      platformTransition(tenantId, aboutGap(id, gap), { ...gap, reason: gapReason(gap) }, ended),
    );
  if (known === undefined && found !== undefined) {
    const gap = { ...found, startedAt: new Date(clock.now()).toISOString() };
    await transit(gap);
    await stored.insert({ id, ...gap });
  } else if (known !== undefined && found === undefined) {
    await transit(known, { atMs: clock.now(), reason: 'somebody is on call for the next seven days' });
    await stored.delete(id);
  } else if (known !== undefined && found !== undefined && (known.from !== found.from || known.to !== found.to)) {
    const { name, reason, startedAt } = known;
    await stored.replace(id, { name, reason, startedAt, from: found.from, to: found.to }, known.version);
  }
};

/** Checks all schedules. A failed check does not affect the others. */
export const detectGaps = async (ports: GapPorts, signal: AbortSignal): Promise<void> => {
  const { documents, clock, log } = ports;
  const disabled = new Set<string>();
  for await (const { id } of documents.everywhere(organizations, { disabled: true })) disabled.add(id);
  const checkedKeys = new Set<string>();
  const about = (tenantId: string, id: string): string => `${tenantId}/${id}`;
  const check = (of: { readonly tenantId: string; readonly id: string }, find: () => Promise<Found | undefined>) =>
    find()
      .then((found) => updateAlert(ports, of, found))
      .catch((error: unknown) =>
        log.warn({ error, tenantId: of.tenantId, schedule: of.id }, 'a schedule could not be checked for gaps'),
      );
  for await (const schedule of documents.everywhere(onCallSchedules)) {
    if (signal.aborted) return;
    if (disabled.has(schedule.tenantId)) continue;
    checkedKeys.add(about(schedule.tenantId, schedule.id));
    await check(schedule, () => firstGap(documents, schedule, clock.now()));
  }
  // Of deleted schedules, and of organizations that are disabled.
  for await (const { tenantId, id } of documents.everywhere(onCallGaps))
    if (!checkedKeys.has(about(tenantId, id))) await check({ tenantId, id }, async () => undefined);
};

export const onCallGapsJob = defineJob<GapPorts>({
  name: 'on-call-gaps',
  summary: 'Alert organizations about upcoming gaps in schedules',
  everyMs: 60_000,
  scope: 'installation',
  run: detectGaps,
});
