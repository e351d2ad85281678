import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { maxChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { syntheticRunRequests } from '../../../schemas/resources/synthetic-run-request.ts';
import { CheckFields, localLocation, toStoredCheck } from '../../../subjects/synthetics/check.ts';
import { findCheckProblems } from '../../../subjects/synthetics/problems.ts';
import { readKnownNames } from '../../../subjects/synthetics/read-checks.ts';
import { getCheckType } from '../../../subjects/synthetics/registry.ts';
import { probeTimeoutMs, requestTtlMs } from '../../../subjects/synthetics/work.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createFieldError, createFieldErrors } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { RunView, toRunView } from './run-view.ts';

const pollMs = 250;
const maxRequestAgeMs = 600_000;
/** Time in which the probe of the local location reports, which starts on demand */
const localStartMs = 20_000;

/** Returns those of the locations whose probes have reported recently. */
const filterReachableLocations = async (
  tenantDocuments: TenantDocuments,
  locations: readonly string[],
  nowMs: number,
): Promise<readonly string[]> => {
  const { items } = await tenantDocuments
    .collection(syntheticProbeContacts)
    .list({ filter: { location: { $in: [...locations] } } });
  const reachableLocations = new Set(
    items.filter(({ lastSeenAt }) => nowMs - Date.parse(lastSeenAt) < probeTimeoutMs).map(({ location }) => location),
  );
  return locations.filter((location) => reachableLocations.has(location));
};

const RunResults = z.strictObject({
  items: z.array(
    z.strictObject({
      location: z.string(),
      run: RunView.nullable().describe('null if no result arrived in time'),
      reason: z.string().describe('Why there is no run; empty if there is one'),
    }),
  ),
});

interface RunRequest {
  readonly id: string;
  readonly locations: readonly string[];
  readonly requestedAtMs: number;
}

/** Waits for the results of an unscheduled run while any are possible, and then deletes the request. */
const waitForResults = async (
  { id, locations, requestedAtMs }: RunRequest,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  { documents, clock }: Ports,
): Promise<z.input<typeof RunResults>> => {
  const tenantDocuments = documents.forTenant(caller.tenantId);
  const runRequests = tenantDocuments.collection(syntheticRunRequests);
  let reachableLocations = await filterReachableLocations(tenantDocuments, locations, requestedAtMs);
  let results = (await runRequests.find(id))?.results ?? {};
  const isStarting = (): boolean =>
    locations.includes(localLocation) &&
    !reachableLocations.includes(localLocation) &&
    clock.now() - requestedAtMs < localStartMs;
  while (
    clock.now() - requestedAtMs < requestTtlMs &&
    (isStarting() || !reachableLocations.every((location) => Object.hasOwn(results, location)))
  ) {
    await pause(pollMs, undefined, { signal });
    if (isStarting()) reachableLocations = await filterReachableLocations(tenantDocuments, locations, clock.now());
    results = (await runRequests.find(id))?.results ?? results;
  }
  // Runs that have not started by now are not needed any more.
  await runRequests.delete(id);
  await deleteMatching(runRequests, { requestedAtMs: { $lt: requestedAtMs - maxRequestAgeMs } });
  return {
    items: locations.map((location) => {
      const run = results[location];
      if (run !== undefined) return { location, run: toRunView(run), reason: '' };
      const reason = reachableLocations.includes(location)
        ? `no result arrived within ${requestTtlMs / 1000} seconds`
        : 'no probe of this location has reported recently';
      return { location, run: null, reason };
    }),
  };
};

const requireActiveCheck = ({ type }: CheckFields): void => {
  if (getCheckType(type).isPassive)
    throw new ApiError('CONFLICT', `a check of the type ${type} cannot be run: the monitored job reports by itself`);
};

export const runCheckNow = defineOperation({
  method: 'POST',
  path: '/api/synthetics/checks/{id}/run',
  operationId: 'runSyntheticCheck',
  summary: 'Run a check now, and wait up to 30 seconds for its results, which do not affect uptime',
  role: 'editor',
  audit: 'synthetic-check.run',
  params: idParameter,
  body: z.strictObject({
    locations: z
      .array(z.string().min(1).max(128))
      .max(50)
      .optional()
      .describe('Locations of the check; default: all of them'),
  }),
  response: RunResults,
  async handler({ caller, params, body, change, signal }, ports) {
    const requestedAtMs = ports.clock.now();
    const { id, locations } = await change(async (scope) => {
      const check = await checkResource.createWriter(scope, caller).find(params.id);
      requireActiveCheck(check);
      const requestedLocations = body.locations ?? check.locations;
      const unknownIndex = requestedLocations.findIndex((location) => !check.locations.includes(location));
      if (unknownIndex >= 0) throw createFieldError(`locations.${unknownIndex}`, 'is not a location of this check');
      const createdRequest = await scope
        .forTenant(caller.tenantId)
        .collection(syntheticRunRequests)
        .insert({ checkId: params.id, locations: requestedLocations, requestedAtMs, results: {} });
      scope.record({ id: params.id, name: check.name });
      return { id: createdRequest.id, locations: requestedLocations };
    });
    return waitForResults({ id, locations, requestedAtMs }, { caller, signal }, ports);
  },
});

/** Maximum number of concurrent test runs per organization. They are limited because the plan does not count them. */
const maxTestRuns = 20;

export const tryCheck = defineOperation({
  method: 'POST',
  path: '/api/synthetics/try',
  operationId: 'trySyntheticCheck',
  summary: 'Run an unsaved check, and wait up to 30 seconds for its results, which are not stored',
  role: 'editor',
  audit: 'synthetic-check.try',
  body: z.strictObject({ check: CheckFields.meta({ examples: [checkResource.example] }) }),
  response: RunResults,
  async handler({ caller, body, change, signal }, ports) {
    const requestedAtMs = ports.clock.now();
    const check = toStoredCheck(body.check);
    requireActiveCheck(check);
    const problems = findCheckProblems(check, await readKnownNames(ports.documents.forTenant(caller.tenantId)));
    if (problems.length > 0)
      throw createFieldErrors(problems.map(({ path, message }) => ({ path: `check.${path}`, message })));
    const { locations } = check;
    const { id } = await change(async (scope) => {
      const runRequests = scope.forTenant(caller.tenantId).collection(syntheticRunRequests);
      const openRequests = await runRequests.list({
        filter: { requestedAtMs: { $gte: requestedAtMs - requestTtlMs } },
        limit: maxChecks,
      });
      if (openRequests.items.filter(({ tried }) => tried !== undefined).length >= maxTestRuns)
        throw new ApiError('CONFLICT', `${maxTestRuns} test runs are already in progress: wait until one of them ends`);
      const createdRequest = await runRequests.insert({
        checkId: randomUUID(),
        tried: check,
        locations,
        requestedAtMs,
        results: {},
      });
      scope.record({ id: createdRequest.id, name: check.name });
      return createdRequest;
    });
    return waitForResults({ id, locations, requestedAtMs }, { caller, signal }, ports);
  },
});
