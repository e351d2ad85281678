/** Repeats a failed run immediately at the other locations, off schedule, so that a consensus takes seconds */
import { createHash } from 'node:crypto';
import { deleteMatching } from '../../runtime/delete-matching.ts';
import { ConflictError, type TenantDocuments } from '../../schemas/ports/documents.ts';
import { syntheticRunRequests } from '../../schemas/resources/synthetic-run-request.ts';
import type { ProbeAlarm } from '../../schemas/synthetic-work.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import { dueStepMs, isDueAt } from './due-times.ts';
import { type IdentifiedCheck, readChecks } from './read-checks.ts';
import { requestTtlMs } from './work.ts';

/** Returns a time that is off schedule for every check. */
const shiftOffSchedule = (ms: number): number => (ms % dueStepMs === 0 ? ms + 1 : ms);

/** Returns an id that is equal for all locations that report a failure in one interval, so runs are requested once. */
const createConfirmationRunId = ({ id, every }: IdentifiedCheck, nowMs: number): string => {
  const interval = Math.floor(nowMs / parseDurationMs(every));
  return `elsewhere-${createHash('sha256').update(`${id}\0${interval}`).digest('hex').slice(0, 40)}`;
};

/** Requests runs from the other locations of each check. Ignores alarms of runs that were not due recently. */
export const requestConfirmationRuns = async (
  documents: TenantDocuments,
  alarms: readonly ProbeAlarm[],
  { location, nowMs }: { readonly location: string; readonly nowMs: number },
): Promise<void> => {
  if (alarms.length === 0) return;
  const runRequests = documents.collection(syntheticRunRequests);
  const checks = new Map((await readChecks(documents, { locations: location })).map((check) => [check.id, check]));
  for (const { checkId, dueMs } of alarms) {
    const check = checks.get(checkId);
    const locations = check?.locations.filter((value) => value !== location) ?? [];
    if (check === undefined || !check.enabled || locations.length === 0) continue;
    const isRecent = dueMs <= nowMs + 5000 && dueMs > nowMs - Math.max(parseDurationMs(check.every), requestTtlMs);
    if (!isRecent || !isDueAt(check, location, dueMs)) continue;
    try {
      const run = { checkId, locations, requestedAtMs: shiftOffSchedule(nowMs), isElsewhere: true, results: {} };
      await runRequests.insert({ id: createConfirmationRunId(check, nowMs), ...run });
    } catch (error) {
      // Another location requested it first.
      if (!(error instanceof ConflictError)) throw error;
    }
    // Requests of an earlier interval, which no probe serves any more.
    await deleteMatching(runRequests, {
      checkId,
      isElsewhere: true,
      requestedAtMs: { $lt: nowMs - 2 * parseDurationMs(check.every) - requestTtlMs },
    });
  }
};
