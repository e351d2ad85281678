import { z } from 'zod';
import { apiTokens, apiTokenUses } from '../../../schemas/resources/service-account.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const revokeToken = defineOperation({
  method: 'DELETE',
  path: '/api/service-accounts/{id}/tokens/{tokenId}',
  operationId: 'revokeApiToken',
  summary: 'Revoke an API token; it stops working within a second',
  role: 'admin',
  audit: 'api-token.revoke',
  params: z.strictObject({ id: z.string().min(1).max(128), tokenId: z.string().min(1).max(128) }),
  response: z.strictObject({}),
  async handler({ caller, params: { id, tokenId }, change }) {
    await change(async ({ of, record }) => {
      const documents = of(caller.tenantId);
      const stored = documents.collection(apiTokens);
      const before = await stored.find(tokenId);
      if (before?.serviceAccountId !== id) throw notFound('API token of this service account');
      await stored.delete(tokenId);
      await documents.collection(apiTokenUses).delete(tokenId);
      record({ id: tokenId, name: before.name, before });
    });
    return {};
  },
});
