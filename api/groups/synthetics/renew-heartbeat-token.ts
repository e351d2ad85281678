import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { createHeartbeatToken } from './heartbeat-token.ts';

export const renewHeartbeatToken = defineOperation({
  method: 'POST',
  path: '/api/synthetics/checks/{id}/token',
  operationId: 'renewSyntheticHeartbeatToken',
  summary: 'Create a new token for a heartbeat, shown only once; the previous token becomes invalid',
  role: 'editor',
  audit: 'synthetic-check.token',
  params: idParameter,
  response: z.strictObject({
    token: z.string().describe('Token for /beats/TOKEN at the ingest addresses; not shown again'),
    tokenPrefix: z.string(),
  }),
  async handler({ caller, params: { id }, change }) {
    return change(async (scope) => {
      const { name, type } = await checkResource.createWriter(scope, caller).find(id);
      if (type !== 'heartbeat')
        throw new ApiError('CONFLICT', `only a heartbeat has a token: this check is of the type ${type}`);
      scope.record({ id, name });
      return createHeartbeatToken(scope.forTenant(caller.tenantId), id);
    });
  },
});
