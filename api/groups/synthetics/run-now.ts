import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { maxChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { syntheticRunRequests } from '../../../schemas/resources/synthetic-run-request.ts';
import { CheckFields, toStoredCheck } from '../../../subjects/synthetics/check.ts';
import { readKnown } from '../../../subjects/synthetics/known.ts';
import { checkProblems } from '../../../subjects/synthetics/problems.ts';
import { checkTypeOf } from '../../../subjects/synthetics/registry.ts';
import { probeTimeoutMs, requestTtlMs } from '../../../subjects/synthetics/work.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, invalid, invalidFields } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { RunView, shownRun } from './run-view.ts';

const pollMs = 250;
const forgottenMs = 600_000;

/** The locations among these with a recently seen probe. */
const alive = async (own: TenantDocuments, locations: readonly string[], nowMs: number): Promise<readonly string[]> => {
  const { items } = await own
    .collection(syntheticProbeContacts)
    .list({ filter: { location: { $in: [...locations] } } });
  const reachableLocations = new Set(
    items.filter(({ lastSeenAt }) => nowMs - Date.parse(lastSeenAt) < probeTimeoutMs).map(({ location }) => location),
  );
  return locations.filter((location) => reachableLocations.has(location));
};

const answered = z.strictObject({
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
const resultsOf = async (
  { id, locations, requestedAtMs }: RunRequest,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  { documents, clock }: Ports,
): Promise<z.input<typeof answered>> => {
  const own = documents.of(caller.tenantId);
  const runRequests = own.collection(syntheticRunRequests);
  const reached = await alive(own, locations, requestedAtMs);
  let results = (await runRequests.find(id))?.results ?? {};
  while (clock.now() - requestedAtMs < requestTtlMs && !reached.every((location) => Object.hasOwn(results, location))) {
    await pause(pollMs, undefined, { signal });
    results = (await runRequests.find(id))?.results ?? results;
  }
  // Nobody waits for runs that have not started by now.
  await runRequests.delete(id);
  await deleteMatching(runRequests, { requestedAtMs: { $lt: requestedAtMs - forgottenMs } });
  return {
    items: locations.map((location) => {
      const run = results[location];
      if (run !== undefined) return { location, run: shownRun(run), reason: '' };
      const reason = reached.includes(location)
        ? `no result arrived within ${requestTtlMs / 1000} seconds`
        : 'no probe of this location has reported recently';
      return { location, run: null, reason };
    }),
  };
};

const refusePassiveCheck = ({ type }: CheckFields): void => {
  if (checkTypeOf(type).isPassive)
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
  response: answered,
  async handler({ caller, params, body, change, signal }, ports) {
    const requestedAtMs = ports.clock.now();
    const { id, locations } = await change(async (scope) => {
      const check = await checkResource.writer(scope, caller).find(params.id);
      refusePassiveCheck(check);
      const requestedLocations = body.locations ?? check.locations;
      const other = requestedLocations.findIndex((location) => !check.locations.includes(location));
      if (other >= 0) throw invalid(`locations.${other}`, 'is not a location of this check');
      const made = await scope
        .of(caller.tenantId)
        .collection(syntheticRunRequests)
        .insert({ checkId: params.id, locations: requestedLocations, requestedAtMs: requestedAtMs, results: {} });
      scope.record({ id: params.id, name: check.name });
      return { id: made.id, locations: requestedLocations };
    });
    return resultsOf({ id, locations, requestedAtMs }, { caller, signal }, ports);
  },
});

/** Concurrent runs per organization: test runs do not count for the plan. */
const maxTries = 20;

export const tryCheck = defineOperation({
  method: 'POST',
  path: '/api/synthetics/try',
  operationId: 'trySyntheticCheck',
  summary: 'Run an unsaved check, and wait up to 30 seconds for its results, which are not stored',
  role: 'editor',
  audit: 'synthetic-check.try',
  body: z.strictObject({ check: CheckFields.meta({ examples: [checkResource.example] }) }),
  response: answered,
  async handler({ caller, body, change, signal }, ports) {
    const requestedAtMs = ports.clock.now();
    const check = toStoredCheck(body.check);
    refusePassiveCheck(check);
    const problems = checkProblems(check, await readKnown(ports.documents.of(caller.tenantId)));
    if (problems.length > 0)
      throw invalidFields(problems.map(({ path, message }) => ({ path: `check.${path}`, message })));
    const { locations } = check;
    const { id } = await change(async (scope) => {
      const runRequests = scope.of(caller.tenantId).collection(syntheticRunRequests);
      const open = await runRequests.list({
        filter: { requestedAtMs: { $gte: requestedAtMs - requestTtlMs } },
        limit: maxChecks,
      });
      if (open.items.filter(({ tried }) => tried !== undefined).length >= maxTries)
        throw new ApiError('CONFLICT', `${maxTries} test runs are already in progress: wait until one of them ends`);
      const made = await runRequests.insert({
        checkId: randomUUID(),
        tried: check,
        locations,
        requestedAtMs: requestedAtMs,
        results: {},
      });
      scope.record({ id: made.id, name: check.name });
      return made;
    });
    return resultsOf({ id, locations, requestedAtMs }, { caller, signal }, ports);
  },
});
