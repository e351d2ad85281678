import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { syntheticAskedRuns } from '../../../schemas/resources/synthetic-asked-run.ts';
import { syntheticProbeContacts } from '../../../schemas/resources/synthetic-location.ts';
import { checkTypeOf } from '../../../subjects/synthetics/registry.ts';
import { askedForMs, vanishedMs } from '../../../subjects/synthetics/work.ts';
import { ApiError, invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
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
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        location: z.string(),
        run: RunView.nullable().describe('Null where no result came in time'),
        reason: z.string().describe('Why there is none; empty where there is one'),
      }),
    ),
  }),
  async handler({ caller, params, body, change, signal }, { documents, clock }) {
    const own = documents.of(caller.tenantId);
    const nowMs = clock.now();
    const asked = own.collection(syntheticAskedRuns);
    const { id, locations } = await change(async (scope) => {
      const check = await checkResource.writer(scope, caller).find(params.id);
      if (checkTypeOf(check.type).isTold)
        throw new ApiError('CONFLICT', `a check of the type ${check.type} is not run: what it watches tells of itself`);
      const wanted = body.locations ?? check.locations;
      const other = wanted.findIndex((location) => !check.locations.includes(location));
      if (other >= 0) throw invalid(`locations.${other}`, 'is no location of this check');
      const made = await scope
        .of(caller.tenantId)
        .collection(syntheticAskedRuns)
        .insert({ checkId: params.id, locations: wanted, askedMs: nowMs, results: {} });
      scope.record({ id: params.id, name: check.name });
      return { id: made.id, locations: wanted };
    });
    const reached = await alive(own, locations, nowMs);
    let results = (await asked.find(id))?.results ?? {};
    while (clock.now() - nowMs < askedForMs && !reached.every((location) => Object.hasOwn(results, location))) {
      await pause(lookMs, undefined, { signal });
      results = (await asked.find(id))?.results ?? results;
    }
    // What was not run by now, nobody waits for.
    await asked.delete(id);
    await deleteMatching(asked, { askedMs: { $lt: nowMs - forgottenMs } });
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
  },
});
