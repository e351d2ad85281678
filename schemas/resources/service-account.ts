import { z } from 'zod';
import { keyFormat } from '../key-format.ts';
import { defineCollection } from '../ports/documents.ts';

/** A program's place in an organization, tied to no person. Admin at most. */
export const serviceAccountRoles = ['viewer', 'editor', 'admin', 'auditor'] as const;

/** Stored under its tenant. */
export const ServiceAccount = z.strictObject({
  name: z.string().trim().min(1).max(256).describe('Unique in the organization'),
  description: z.string().max(1024).default(''),
  role: z.enum(serviceAccountRoles),
  disabled: z.boolean().default(false),
});
export type ServiceAccount = z.output<typeof ServiceAccount>;

export const serviceAccounts = defineCollection<ServiceAccount>({ name: 'service-accounts', unique: [['name']] });

/** Spelling of API tokens: `oiq_sa_…`. */
export const apiTokenFormat = keyFormat('oiq_sa_');

/** A credential of a service account, for the management API. Only its SHA-256 is kept. Stored under its tenant. */
export const ApiToken = z.strictObject({
  serviceAccountId: z.string(),
  name: z.string().trim().min(1).max(256),
  /** Hex SHA-256 of the token. */
  hash: z.string().length(64),
  /** First characters, for people. */
  prefix: z.string(),
  /** `<group>:read`, or `<group>:write`, which includes reading. */
  scopes: z.array(z.string()),
  expiresAt: z.iso.datetime(),
  /** Who made it, as the audit log names them. */
  createdBy: z.strictObject({ type: z.string(), id: z.string(), name: z.string() }),
});
export type ApiToken = z.output<typeof ApiToken>;

export const apiTokens = defineCollection<ApiToken>({
  name: 'api-tokens',
  uniqueEverywhere: [['hash']],
  indexes: [['serviceAccountId'], ['expiresAt']],
});

/** When a token was last used, about; beside it, so that use changes no version. The document id is the token's. Stored under its tenant. */
export const ApiTokenUse = z.strictObject({ usedAt: z.iso.datetime(), address: z.string() });
export type ApiTokenUse = z.output<typeof ApiTokenUse>;

export const apiTokenUses = defineCollection<ApiTokenUse>({ name: 'api-token-uses' });
