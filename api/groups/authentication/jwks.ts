import { z } from 'zod';
import { defineOperation } from '../../kernel/operation.ts';

export const jwks = defineOperation({
  method: 'GET',
  path: '/auth/jwks.json',
  operationId: 'getPublicKeys',
  summary: 'Get the public keys of session tokens (JWK set)',
  role: 'none',
  response: z.strictObject({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) }),
  handler: (_, { tokens }) => ({
    keys: tokens.publicKeys().map((key) => ({ ...key, kid: key.kid ?? '', kty: key.kty ?? '' })),
  }),
});
