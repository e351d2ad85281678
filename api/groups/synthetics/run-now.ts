import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { syntheticAskedRuns } from '../../../schemas/resources/synthetic-asked-run.ts';
import { mostChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { CheckFields, settled } from '../../../subjects/synthetics/check.ts';
import { readKnown } from '../../../subjects/synthetics/known.ts';
import { checkProblems } from '../../../subjects/synthetics/problems.ts';
import { checkTypeOf } from '../../../subjects/synthetics/registry.ts';
import { askedForMs, vanishedMs } from '../../../subjects/synthetics/work.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, invalid, invalidFields } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { RunView, shownRun } from './run-view.ts';

const lookMs = 250;
const forgottenMs = 600_000;

/** Of these, the locations that have a probe which was heard from. */
const alive = async (own: TenantDocuments, locations: readonly string[], nowMs: number): Promise<readonly string[]> => {
  const { items } = await own
    .collection(syntheticProbeContacts)
    .list({ filter: { location: { $in: [...locations] } } });
  const heard = new Set(
    items.filter(({ heardAt }) => nowMs - Date.parse(heardAt) < vanishedMs).map(({ location }) => location),
  );
  return locations.filter((location) => heard.has(location));
};

const answered = z.strictObject({
  items: z.array(
    z.strictObject({
      location: z.string(),
      run: RunView.nullable().describe('Null where no result came in time'),
      reason: z.string().describe('Why there is none; empty where there is one'),
    }),
  ),
});

interface Asked {
  readonly id: string;
  readonly locations: readonly string[];
  readonly askedMs: number;
}

/** Waits for the results of a run off the schedule, as long as any may come, and forgets that it was asked for. */
const resultsOf = async (
  { id, locations, askedMs }: Asked,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  { documents, clock }: Ports,
): Promise<z.input<typeof answered>> => {
  const own = documents.of(caller.tenantId);
  const asked = own.collection(syntheticAskedRuns);
  const reached = await alive(own, locations, askedMs);
  let results = (await asked.find(id))?.results ?? {};
  while (clock.now() - askedMs < askedForMs && !reached.every((location) => Object.hasOwn(results, location))) {
    await pause(lookMs, undefined, { signal });
    results = (await asked.find(id))?.results ?? results;
  }
  // What was not run by now, nobody waits for.
  await asked.delete(id);
  await deleteMatching(asked, { askedMs: { $lt: askedMs - forgottenMs } });
  return {
    items: locations.map((location) => {
      const run = results[location];
      if (run !== undefined) return { location, run: shownRun(run), reason: '' };
      const reason = reached.includes(location)
        ? `no result came within ${askedForMs / 1000} seconds`
        : 'no probe of this location was heard from lately';
      return { location, run: null, reason };
    }),
  };
};

const refuseTold = ({ type }: CheckFields): void => {
  if (checkTypeOf(type).isTold)
    throw new ApiError('CONFLICT', `a check of the type ${type} is not run: what it watches tells of itself`);
};

export const runCheckNow = defineOperation({
  method: 'POST',
  path: '/api/synthetics/checks/{id}/run',
  operationId: 'runSyntheticCheck',
  summary: 'Run a check now, and wait up to 30 seconds for its results; they are in no uptime',
  role: 'editor',
  audit: 'synthetic-check.run',
  params: idParameter,
  body: z.strictObject({
    locations: z
      .array(z.string().min(1).max(128))
      .max(50)
      .optional()
      .describe('Of the check’s; without it, all of them'),
  }),
  response: answered,
  async handler({ caller, params, body, change, signal }, ports) {
    const askedMs = ports.clock.now();
    const { id, locations } = await change(async (scope) => {
      const check = await checkResource.writer(scope, caller).find(params.id);
      refuseTold(check);
      const wanted = body.locations ?? check.locations;
      const other = wanted.findIndex((location) => !check.locations.includes(location));
      if (other >= 0) throw invalid(`locations.${other}`, 'is no location of this check');
      const made = await scope
        .of(caller.tenantId)
        .collection(syntheticAskedRuns)
        .insert({ checkId: params.id, locations: wanted, askedMs, results: {} });
      scope.record({ id: params.id, name: check.name });
      return { id: made.id, locations: wanted };
    });
    return resultsOf({ id, locations, askedMs }, { caller, signal }, ports);
  },
});

/** Of an organization at the same time: tries are no part of what a plan counts. */
const mostTries = 20;

export const tryCheck = defineOperation({
  method: 'POST',
  path: '/api/synthetics/try',
  operationId: 'trySyntheticCheck',
  summary: 'Run a check that is not saved, and wait up to 30 seconds for its results; nothing of them is kept',
  role: 'editor',
  audit: 'synthetic-check.try',
  body: z.strictObject({ check: CheckFields.meta({ examples: [checkResource.example] }) }),
  response: answered,
  async handler({ caller, body, change, signal }, ports) {
    const askedMs = ports.clock.now();
    const check = settled(body.check);
    refuseTold(check);
    const problems = checkProblems(check, await readKnown(ports.documents.of(caller.tenantId)));
    if (problems.length > 0)
      throw invalidFields(problems.map(({ path, message }) => ({ path: `check.${path}`, message })));
    const { locations } = check;
    const { id } = await change(async (scope) => {
      const asked = scope.of(caller.tenantId).collection(syntheticAskedRuns);
      const open = await asked.list({ filter: { askedMs: { $gte: askedMs - askedForMs } }, limit: mostChecks });
      if (open.items.filter(({ tried }) => tried !== undefined).length >= mostTries)
        throw new ApiError('CONFLICT', `${mostTries} checks are tried already: wait until one of them has ended`);
      const made = await asked.insert({ checkId: randomUUID(), tried: check, locations, askedMs, results: {} });
      scope.record({ id: made.id, name: check.name });
      return made;
    });
    return resultsOf({ id, locations, askedMs }, { caller, signal }, ports);
  },
});
