import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import type { ApiToken, ApiTokenUse } from '../../../schemas/resources/service-account.ts';

/** A token as callers see it: never its secret, nor the hash of it. */
export const TokenView = z.strictObject({
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

export const tokenView = (token: ApiToken & Stored, use: ApiTokenUse | undefined): z.input<typeof TokenView> => {
  const { id, serviceAccountId, name, prefix, scopes, expiresAt, createdAt, createdBy } = token;
  const used = { lastUsedAt: use?.usedAt ?? null, lastUsedFrom: use?.address ?? null };
  return { id, serviceAccountId, name, prefix, scopes, expiresAt, createdAt, createdBy, ...used };
};
