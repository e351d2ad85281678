import { z } from 'zod';
import type { Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type StoredSloPolicy, sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import { policyProblems, readPolicy, SloPolicyFields } from '../../../subjects/slos/policy.ts';
import { hasAlready } from '../../changes.ts';
import { invalidFields } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { foundSlo } from './found.ts';
import { syncSloRules } from './managed-rules.ts';
import { sloResource } from './slo.ts';

const noun = 'error-budget policy';

const View = z.strictObject({
  ...SloPolicyFields.shape,
  version: z.int().describe('The ETag; 0 if it has not been written yet'),
});

type Known = StoredSloPolicy & Pick<Stored, 'version'>;

const read = async (own: Pick<TenantDocuments, 'collection'>, id: string): Promise<Known> =>
  (await own.collection(sloPolicies).find(id)) ?? { steps: [], version: 0 };

const shown = (known: Known): z.output<typeof View> => ({
  steps: readPolicy(known)?.steps ?? [],
  version: known.version,
});

export const getSloPolicy = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/policy',
  operationId: 'getSloPolicy',
  summary: 'Get the error-budget policy of an SLO',
  role: 'viewer',
  params: idParameter,
  response: View,
  async handler({ caller, params, request }, ports) {
    await foundSlo(params.id, caller, ports);
    const known = await read(ports.documents.of(caller.tenantId), params.id);
    request.reply('ETag', etagOf(known));
    return shown(known);
  },
});

export const setSloPolicy = defineOperation({
  method: 'PUT',
  path: '/api/slos/{id}/policy',
  operationId: 'setSloPolicy',
  summary: 'Set the actions for a low error budget, or a fast burn',
  role: 'editor',
  audit: 'service-level-objective.set-policy',
  versions: 'write',
  params: idParameter,
  body: SloPolicyFields,
  response: View,
  async handler({ caller, params, body, request, change }, ports) {
    const { id, slo } = await foundSlo(params.id, caller, ports);
    const problems = policyProblems(body, slo);
    if (problems.length > 0) throw invalidFields(problems);
    const after = await change(async (scope): Promise<Known> => {
      const own = scope.of(caller.tenantId);
      const before = await read(own, id);
      requireVersion(before, preconditionOf(request), { noun, requiresIfMatch: false });
      if (hasAlready(before, body)) {
        scope.unchanged();
        return before;
      }
      const stored = own.collection(sloPolicies);
      const written =
        before.version === 0 ? await stored.insert({ id, ...body }) : await stored.replace(id, body, before.version);
      const objective = await sloResource.writer(scope, caller).find(id);
      await syncSloRules(own, { before: objective, after: objective });
      scope.record({ id, name: slo.name, before: { steps: before.steps }, after: body });
      return written;
    });
    request.reply('ETag', etagOf(after));
    return shown(after);
  },
});
