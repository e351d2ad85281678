import { z } from 'zod';
import { createKeyFormat } from '../key-format.ts';
import { defineCollection } from '../ports/documents.ts';

/** Roles of service accounts, which belong to an organization instead of a person. The highest is admin. */
export const serviceAccountRoles = ['viewer', 'editor', 'admin', 'auditor'] as const;

/** Stored under its tenant. */
export const ServiceAccount = z.strictObject({
  name: z.string().trim().min(1).max(256).describe('Name, unique within the organization'),
  description: z.string().max(1024).default(''),
  role: z.enum(serviceAccountRoles),
  disabled: z.boolean().default(false),
});
export type ServiceAccount = z.output<typeof ServiceAccount>;

export const serviceAccounts = defineCollection<ServiceAccount>({ name: 'service-accounts', unique: [['name']] });

/** Format of API tokens: `oiq_sa_…`. */
export const apiTokenFormat = createKeyFormat('oiq_sa_');

/** A credential of a service account for the management API. Only its SHA-256 is stored. Stored under its tenant. */
export const ApiToken = z.strictObject({
  serviceAccountId: z.string(),
  name: z.string().trim().min(1).max(256),
  /** Hexadecimal SHA-256 of the token. */
  hash: z.string().length(64),
  /** First characters of the token, for display. */
  prefix: z.string(),
  /** `<group>:read`, or `<group>:write`, which includes read access. */
  scopes: z.array(z.string()),
  expiresAt: z.iso.datetime(),
  /** Creator, with the name from the audit log. */
  createdBy: z.strictObject({ type: z.string(), id: z.string(), name: z.string() }),
});
export type ApiToken = z.output<typeof ApiToken>;

export const apiTokens = defineCollection<ApiToken>({
  name: 'api-tokens',
  uniqueEverywhere: [['hash']],
  indexes: [['serviceAccountId'], ['expiresAt']],
});

/**
 * Approximate time of the last use of a token. Stored separately, so that use does not change the token's version. The
 * document ID is that of the token. Stored under its tenant.
 */
export const ApiTokenUse = z.strictObject({ usedAt: z.iso.datetime(), address: z.string() });
export type ApiTokenUse = z.output<typeof ApiTokenUse>;

export const apiTokenUses = defineCollection<ApiTokenUse>({ name: 'api-token-uses' });
