import { createHash } from 'node:crypto';
import { z } from 'zod';
import { apiTokenFormat, apiTokens, serviceAccounts } from '../../../schemas/resources/service-account.ts';
import { refuseRoleAbove } from '../../identity/rights.ts';
import type { ScopeEntry } from '../../identity/scopes.ts';
import { ApiError, invalid, notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { TokenView, tokenView } from './token-view.ts';
import { mostTokens, refuseWiderScopes } from './wider-tokens.ts';

const dayMs = 86_400_000;
const usualDays = 90;

export const createToken = defineOperation({
  method: 'POST',
  path: '/api/service-accounts/{id}/tokens',
  operationId: 'createApiToken',
  summary: 'Create an API token for a service account; it is shown only once',
  role: 'admin',
  audit: 'api-token.create',
  params: idParameter,
  body: z.strictObject({
    name: z.string().trim().min(1).max(256).describe('Purpose of the token'),
    scopes: z
      .array(z.string().min(1).max(128))
      .min(1)
      .max(200)
      .describe('Scopes of the token, within the account’s role; GET /api/scopes lists them'),
    expiresAt: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(`When the token expires; by default in ${usualDays} days, at most as late as the installation allows`),
  }),
  response: z.strictObject({
    ...TokenView.shape,
    token: z.string().describe('For Authorization: Bearer; not shown again'),
  }),
  async handler({ caller, params: { id }, body, change }, { clock, scopes, settings }) {
    const secret = apiTokenFormat.make();
    const token = await change(async ({ of, record }) => {
      const documents = of(caller.tenantId);
      const account = await documents.collection(serviceAccounts).find(id);
      if (account === undefined) throw notFound('service account');
      refuseRoleAbove(caller, account.role);
      const wanted = knownScopes(body.scopes, scopes);
      refuseWiderScopes(caller, wanted);
      const expiresAt = expiryOf(body.expiresAt, clock.now(), settings.API_TOKEN_MAX_DAYS);
      const stored = documents.collection(apiTokens);
      if ((await stored.count({ serviceAccountId: id })) >= mostTokens)
        throw new ApiError('CONFLICT', `the account has ${mostTokens} tokens, the maximum: revoke unused ones`);
      const { type, id: creatorId, name } = caller.actor;
      const after = await stored.insert({
        ...{ serviceAccountId: id, name: body.name, scopes: wanted, expiresAt },
        hash: createHash('sha256').update(secret).digest('hex'),
        prefix: apiTokenFormat.displayPrefix(secret),
        createdBy: { type, id: creatorId, name },
      });
      record({ id: after.id, name: `${account.name}: ${body.name}`, after });
      return after;
    });
    return { ...tokenView(token, undefined), token: secret };
  },
});

const knownScopes = (wanted: readonly string[], known: readonly ScopeEntry[]): string[] => {
  const names = new Set(known.map(({ scope }) => scope));
  wanted.forEach((scope, index) => {
    if (!names.has(scope)) throw invalid(`scopes.${index}`, `is not a scope; GET /api/scopes lists them`);
  });
  return [...new Set(wanted)].sort();
};

const expiryOf = (given: string | undefined, now: number, maxDays: number): string => {
  const latest = now + maxDays * dayMs;
  const at = given === undefined ? Math.min(latest, now + usualDays * dayMs) : Date.parse(given);
  if (at <= now) throw invalid('expiresAt', 'is in the past');
  if (at > latest)
    throw invalid('expiresAt', `is more than ${maxDays} days ahead, the most that this installation allows`);
  return new Date(at).toISOString();
};
