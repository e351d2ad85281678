import { z } from 'zod';
import { defineOperation } from '../../kernel/operation.ts';

export const listScopes = defineOperation({
  method: 'GET',
  path: '/api/scopes',
  operationId: 'listScopes',
  summary: 'List the scopes that an API token can have, and the operations that each allows; write includes read',
  role: 'admin',
  query: z.strictObject({}),
  response: z.strictObject({
    items: z.array(z.strictObject({ scope: z.string(), operations: z.array(z.string()) })),
    nextCursor: z.null(),
  }),
  handler: (_, { scopes }) => ({
    items: scopes.map(({ scope, operations }) => ({ scope, operations: [...operations] })),
    nextCursor: null,
  }),
});
