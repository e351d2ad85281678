import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import {
  type ApiToken,
  type ApiTokenUse,
  apiTokenFormat,
  apiTokens,
  apiTokenUses,
  serviceAccounts,
} from '../../../schemas/resources/service-account.ts';
import { requireRoleNotAbove } from '../../callers/rights.ts';
import type { ScopeEntry } from '../../callers/scopes.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createEqualsFilter, createListParameters, readPage } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { maxTokens, requireOwnScopes } from './token-scopes.ts';

/** A token in API responses, without its secret and its hash. */
const TokenView = z.strictObject({
  id: z.string(),
  serviceAccountId: z.string(),
  name: z.string(),
  prefix: z.string().describe('First characters of the token'),
  scopes: z.array(z.string()),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  createdBy: z.strictObject({ type: z.string(), id: z.string(), name: z.string() }),
  lastUsedAt: z.iso.datetime().nullable().describe('To the minute; null if it was never used'),
  lastUsedFrom: z.string().nullable().describe('Address of the last use'),
});

const toTokenView = (token: ApiToken & StoredMetadata, use: ApiTokenUse | undefined): z.input<typeof TokenView> => {
  const { id, serviceAccountId, name, prefix, scopes, expiresAt, createdAt, createdBy } = token;
  const lastUse = { lastUsedAt: use?.usedAt ?? null, lastUsedFrom: use?.address ?? null };
  return { id, serviceAccountId, name, prefix, scopes, expiresAt, createdAt, createdBy, ...lastUse };
};

const dayMs = 86_400_000;
const defaultDays = 90;

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
      .describe(
        `When the token expires; by default in ${defaultDays} days, limited by the maximum of the installation`,
      ),
  }),
  response: z.strictObject({
    ...TokenView.shape,
    token: z.string().describe('For Authorization: Bearer; not shown again'),
  }),
  async handler({ caller, params: { id }, body, change }, { clock, scopes, settings }) {
    const secret = apiTokenFormat.generate();
    const token = await change(async ({ forTenant, record }) => {
      const documents = forTenant(caller.tenantId);
      const account = await documents.collection(serviceAccounts).find(id);
      if (account === undefined) throw createNotFoundError('service account');
      requireRoleNotAbove(caller, account.role);
      const requestedScopes = validateScopes(body.scopes, scopes);
      requireOwnScopes(caller, requestedScopes);
      const expiresAt = parseExpiry(body.expiresAt, clock.now(), settings.API_TOKEN_MAX_DAYS);
      const tokenCollection = documents.collection(apiTokens);
      if ((await tokenCollection.count({ serviceAccountId: id })) >= maxTokens)
        throw new ApiError('CONFLICT', `the account has ${maxTokens} tokens, the maximum: revoke unused ones`);
      const { type, id: creatorId, name } = caller.actor;
      const after = await tokenCollection.insert({
        serviceAccountId: id,
        name: body.name,
        scopes: requestedScopes,
        expiresAt,
        hash: createHash('sha256').update(secret).digest('hex'),
        prefix: apiTokenFormat.displayPrefix(secret),
        createdBy: { type, id: creatorId, name },
      });
      record({ id: after.id, name: `${account.name}: ${body.name}`, after });
      return after;
    });
    return { ...toTokenView(token, undefined), token: secret };
  },
});

const validateScopes = (requestedScopes: readonly string[], allScopes: readonly ScopeEntry[]): string[] => {
  const names = new Set(allScopes.map(({ scope }) => scope));
  requestedScopes.forEach((scope, index) => {
    if (!names.has(scope)) throw createFieldError(`scopes.${index}`, `is not a scope; GET /api/scopes lists them`);
  });
  return [...new Set(requestedScopes)].sort();
};

const parseExpiry = (requestedExpiry: string | undefined, now: number, maxDays: number): string => {
  const latest = now + maxDays * dayMs;
  const expiryMs =
    requestedExpiry === undefined ? Math.min(latest, now + defaultDays * dayMs) : Date.parse(requestedExpiry);
  if (expiryMs <= now) throw createFieldError('expiresAt', 'is in the past');
  if (expiryMs > latest)
    throw createFieldError(
      'expiresAt',
      `is more than ${maxDays} days ahead, the maximum that this installation allows`,
    );
  return new Date(expiryMs).toISOString();
};

const listDefinition = { sorts: ['createdAt', 'name', 'expiresAt'] };
/** Restricts the list to one account. Callers cannot set this filter. */
const listByAccount = { ...listDefinition, filters: { account: createEqualsFilter('serviceAccountId') } };

export const listTokens = defineOperation({
  method: 'GET',
  path: '/api/service-accounts/{id}/tokens',
  operationId: 'listApiTokens',
  summary: 'List the API tokens of a service account, with their last use',
  role: 'admin',
  params: idParameter,
  query: createListParameters(listDefinition),
  response: z.strictObject({ items: z.array(TokenView), nextCursor: z.string().nullable() }),
  async handler({ caller, params: { id: account }, query }, { documents, clock }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    if ((await tenantDocuments.collection(serviceAccounts).find(account)) === undefined)
      throw createNotFoundError('service account');
    const now = new Date(clock.now()).toISOString();
    const page = await readPage(tenantDocuments.collection(apiTokens), listByAccount, {
      query: { ...query, account },
      now,
    });
    const uses = await Promise.all(page.items.map(({ id }) => tenantDocuments.collection(apiTokenUses).find(id)));
    return { items: page.items.map((token, index) => toTokenView(token, uses[index])), nextCursor: page.nextCursor };
  },
});

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
    await change(async ({ forTenant, record }) => {
      const documents = forTenant(caller.tenantId);
      const tokenCollection = documents.collection(apiTokens);
      const before = await tokenCollection.find(tokenId);
      if (before?.serviceAccountId !== id) throw createNotFoundError('API token of this service account');
      await tokenCollection.delete(tokenId);
      await documents.collection(apiTokenUses).delete(tokenId);
      record({ id: tokenId, name: before.name, before });
    });
    return {};
  },
});

export const listScopes = defineOperation({
  method: 'GET',
  path: '/api/scopes',
  operationId: 'listScopes',
  summary: 'List the scopes that an API token can have, and the operations that each allows; write includes read',
  role: 'admin',
  query: z.strictObject({}),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        scope: z.string(),
        operations: z.array(z.string()),
        reads: z
          .array(z.string())
          .describe(
            'Groups whose telemetry the views of these operations show. A query that the caller writes needs the read scope of each group that it reads.',
          ),
      }),
    ),
    nextCursor: z.null(),
  }),
  handler: (_, { scopes }) => ({
    items: scopes.map(({ scope, operations, reads }) => ({ scope, operations: [...operations], reads: [...reads] })),
    nextCursor: null,
  }),
});
