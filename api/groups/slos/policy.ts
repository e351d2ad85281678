import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type StoredSloPolicy, sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import { findPolicyProblems, readPolicy, SloPolicyFields } from '../../../subjects/slos/policy.ts';
import { hasSameFields } from '../../changes.ts';
import { createFieldErrors } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findSlo } from './find-slo.ts';
import { syncSloRules } from './managed-rules.ts';
import { sloResource } from './slo.ts';

const policyNoun = 'error-budget policy';

const View = z.strictObject({
  ...SloPolicyFields.shape,
  version: z.int().describe('The ETag; 0 if it has not been written yet'),
});

type StoredPolicy = StoredSloPolicy & Pick<StoredMetadata, 'version'>;

const readStoredPolicy = async (
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
  id: string,
): Promise<StoredPolicy> => (await tenantDocuments.collection(sloPolicies).find(id)) ?? { steps: [], version: 0 };

const toView = (policy: StoredPolicy): z.output<typeof View> => ({
  steps: readPolicy(policy)?.steps ?? [],
  version: policy.version,
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
    await findSlo(params.id, caller, ports);
    const storedPolicy = await readStoredPolicy(ports.documents.forTenant(caller.tenantId), params.id);
    request.reply('ETag', formatEtag(storedPolicy));
    return toView(storedPolicy);
  },
});

export const setSloPolicy = defineOperation({
  method: 'PUT',
  path: '/api/slos/{id}/policy',
  operationId: 'setSloPolicy',
  summary: 'Set the policy steps for a low error budget or a fast burn rate',
  role: 'editor',
  audit: 'service-level-objective.set-policy',
  versions: 'write',
  params: idParameter,
  body: SloPolicyFields,
  response: View,
  async handler({ caller, params, body, request, change }, ports) {
    const { id, slo } = await findSlo(params.id, caller, ports);
    const problems = findPolicyProblems(body, slo);
    if (problems.length > 0) throw createFieldErrors(problems);
    const after = await change(async (scope): Promise<StoredPolicy> => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const before = await readStoredPolicy(tenantDocuments, id);
      requireVersion(before, parsePrecondition(request), { noun: policyNoun, requiresIfMatch: false });
      if (hasSameFields(before, body)) {
        scope.markUnchanged();
        return before;
      }
      const policyCollection = tenantDocuments.collection(sloPolicies);
      const writtenPolicy =
        before.version === 0
          ? await policyCollection.insert({ id, ...body })
          : await policyCollection.replace(id, body, before.version);
      const objective = await sloResource.createWriter(scope, caller).find(id);
      await syncSloRules(tenantDocuments, { before: objective, after: objective });
      scope.record({ id, name: slo.name, before: { steps: before.steps }, after: body });
      return writtenPolicy;
    });
    request.reply('ETag', formatEtag(after));
    return toView(after);
  },
});
