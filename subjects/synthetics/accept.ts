/** Accepts only results of runs that were assigned to a location, so that nobody else can write uptime */
import { ConflictError, type TenantDocuments } from '../../schemas/ports/documents.ts';
import { type SyntheticRunRequest, syntheticRunRequests } from '../../schemas/resources/synthetic-run-request.ts';
import type { SyntheticRun } from '../../schemas/synthetic-runs.ts';
import type { ProbeResult } from '../../schemas/synthetic-work.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import { isDueAt } from './due-times.ts';
import { type IdentifiedCheck, parseUnsavedCheck, readChecks } from './read-checks.ts';

/** Maximum age of results; a probe without a connection stores results for an hour */
const maxResultAgeMs = 3_660_000;
/** Maximum clock difference after synchronization */
const toleranceMs = 5000;

/** Returns why a result does not belong to an assigned run; `undefined` if it does. */
export const findRejection = (
  { dueMs, startedAtMs }: Pick<ProbeResult, 'dueMs' | 'startedAtMs'>,
  check: IdentifiedCheck | undefined,
  { location, nowMs }: { readonly location: string; readonly nowMs: number },
): string | undefined => {
  if (check === undefined || !check.locations.includes(location)) return 'no check of this location has this id';
  if (!check.enabled) return 'the check is disabled';
  if (!isDueAt(check, location, dueMs)) return 'the check is not due at this location at this time';
  if (dueMs > nowMs + toleranceMs) return 'the due time is in the future';
  if (dueMs < nowMs - maxResultAgeMs) return 'the due time is more than one hour ago';
  const isOnTime =
    startedAtMs >= dueMs - toleranceMs && startedAtMs <= dueMs + 4 * parseDurationMs(check.every) + toleranceMs;
  return isOnTime ? undefined : 'it did not start close to its due time';
};

/** A location has no runs of a time before the check, so that nobody else can write its past. */
const findAgeRejection = (
  { dueMs }: Pick<ProbeResult, 'dueMs'>,
  check: IdentifiedCheck | undefined,
): string | undefined =>
  dueMs < Date.parse(check?.createdAt ?? '') - toleranceMs ? 'the due time is before the check was created' : undefined;

interface ResultSource {
  readonly tenantId: string;
  readonly location: string;
  readonly nowMs: number;
}

const toRun = (
  { requestId: _, ...run }: ProbeResult,
  check: IdentifiedCheck,
  { tenantId, location, nowMs, isManual = false }: ResultSource & { readonly isManual?: boolean },
): SyntheticRun => {
  return {
    ...run,
    checkName: check.name,
    checkType: check.type,
    labels: check.labels,
    tenantId,
    location,
    projectId: check.projectId ?? '',
    acceptedMs: nowMs,
    isManual,
  };
};

const maxAttempts = 5;

const isRequestedRun = (
  request: SyntheticRunRequest | undefined,
  result: ProbeResult,
  location: string,
): request is SyntheticRunRequest =>
  request?.checkId === result.checkId && request.requestedAtMs === result.dueMs && request.locations.includes(location);

const listRunsToPublish = ({ tried }: SyntheticRunRequest, run: SyntheticRun): readonly SyntheticRun[] =>
  tried === undefined ? [run] : [];

const republish = (request: SyntheticRunRequest, storedRun: SyntheticRun, { traceId }: ProbeResult) =>
  storedRun.traceId === traceId ? listRunsToPublish(request, storedRun) : undefined;

/**
 * Stores the result of an off-schedule run, and returns the run to publish; nothing for a check that is not saved. A
 * probe that received no confirmation sends the result again. A stored result is published again, because the first
 * publication may have failed, and counts once. Returns `undefined` if the run was not requested from the location, or
 * another result exists.
 */
const storeRequestedRun = async (
  documents: TenantDocuments,
  requestId: string,
  {
    result,
    savedCheck,
    from,
  }: { readonly result: ProbeResult; readonly savedCheck: IdentifiedCheck | undefined; readonly from: ResultSource },
): Promise<readonly SyntheticRun[] | undefined> => {
  const requests = documents.collection(syntheticRunRequests);
  for (let attemptsLeft = maxAttempts; attemptsLeft > 0; attemptsLeft--) {
    const request = await requests.find(requestId);
    if (!isRequestedRun(request, result, from.location)) return undefined;
    const check = parseUnsavedCheck(request) ?? savedCheck;
    if (check === undefined) return undefined;
    const storedRun = request.results[from.location];
    if (storedRun !== undefined) return republish(request, storedRun, result);
    const run = toRun(result, check, { ...from, isManual: request.isElsewhere !== true });
    try {
      await requests.update(requestId, { results: { ...request.results, [from.location]: run } }, request.version);
      return listRunsToPublish(request, run);
    } catch (error) {
      // Another location stored its result first.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return undefined;
};

export interface RejectedResult {
  readonly index: number;
  readonly reason: string;
}

/** Separates results into accepted ones, in their published form, and rejected ones. */
export const acceptResults = async (
  documents: TenantDocuments,
  results: readonly ProbeResult[],
  from: ResultSource,
): Promise<{ readonly runs: readonly SyntheticRun[]; readonly rejected: readonly RejectedResult[] }> => {
  const checks = new Map((await readChecks(documents, { locations: from.location })).map((check) => [check.id, check]));
  const runs: SyntheticRun[] = [];
  const rejected: RejectedResult[] = [];
  for (const [index, result] of results.entries()) {
    const check = checks.get(result.checkId);
    if (result.requestId !== undefined) {
      const storedRuns = await storeRequestedRun(documents, result.requestId, { result, savedCheck: check, from });
      if (storedRuns !== undefined) runs.push(...storedRuns);
      else rejected.push({ index, reason: 'it was not requested at this location, or another result already exists' });
      continue;
    }
    const reason = findRejection(result, check, from) ?? findAgeRejection(result, check);
    if (reason === undefined && check !== undefined) runs.push(toRun(result, check, from));
    else rejected.push({ index, reason: reason ?? '' });
  }
  return { runs, rejected };
};
