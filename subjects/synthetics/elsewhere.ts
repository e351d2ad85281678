/** What failed at one location is tried at once at the others, off the schedule, so that agreement takes seconds. */
import { createHash } from 'node:crypto';
import { deleteMatching } from '../../runtime/delete-matching.ts';
import { ConflictError, type TenantDocuments } from '../../schemas/ports/documents.ts';
import { syntheticRunRequests } from '../../schemas/resources/synthetic-run-request.ts';
import type { ProbeAlarm } from '../../schemas/synthetic-work.ts';
import { msOf } from '../alerts/durations.ts';
import { dueStepMs, isDueAt } from './due-times.ts';
import { type KnownCheck, readChecks } from './known.ts';
import { requestTtlMs } from './work.ts';

/** Off the schedule, whatever the schedule is: at no time at which anything is due. */
const offSchedule = (ms: number): number => (ms % dueStepMs === 0 ? ms + 1 : ms);

/** The same for all locations that tell of a failure in one interval: the others are asked once in it. */
const idOf = ({ id, every }: KnownCheck, nowMs: number): string => {
  const interval = Math.floor(nowMs / msOf(every));
  return `elsewhere-${createHash('sha256').update(`${id}\0${interval}`).digest('hex').slice(0, 40)}`;
};

/** Asks the other locations of each check. What is not a run that just was due is left out. */
export const requestRunsElsewhere = async (
  documents: TenantDocuments,
  alarms: readonly ProbeAlarm[],
  { location, nowMs }: { readonly location: string; readonly nowMs: number },
): Promise<void> => {
  if (alarms.length === 0) return;
  const runRequests = documents.collection(syntheticRunRequests);
  const checks = new Map((await readChecks(documents, { locations: location })).map((check) => [check.id, check]));
  for (const { checkId, dueMs } of alarms) {
    const check = checks.get(checkId);
    const locations = check?.locations.filter((one) => one !== location) ?? [];
    if (check === undefined || !check.enabled || locations.length === 0) continue;
    const isRecent = dueMs <= nowMs + 5000 && dueMs > nowMs - Math.max(msOf(check.every), requestTtlMs);
    if (!isRecent || !isDueAt(check, location, dueMs)) continue;
    try {
      const run = { checkId, locations, requestedAtMs: offSchedule(nowMs), isElsewhere: true, results: {} };
      await runRequests.insert({ id: idOf(check, nowMs), ...run });
    } catch (error) {
      // Another location was quicker.
      if (!(error instanceof ConflictError)) throw error;
    }
    // Those of an interval before, which nobody answers any more.
    await deleteMatching(runRequests, {
      checkId,
      isElsewhere: true,
      requestedAtMs: { $lt: nowMs - 2 * msOf(check.every) - requestTtlMs },
    });
  }
};
