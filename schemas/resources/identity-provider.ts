import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/** Roles that a provider may assign: only Owners create Owners. */
const mappedRoles = ['viewer', 'editor', 'admin', 'auditor'] as const;
export const MappedRole = z.enum(mappedRoles);
export type MappedRole = z.output<typeof MappedRole>;

/** Maps values of a claim to roles. The first matching entry applies. */
export const RoleMapping = z.strictObject({
  claim: z
    .string()
    .min(1)
    .max(256)
    .describe('Claim of the ID token or of the userinfo response; a string or a list of strings'),
  roles: z.array(z.strictObject({ value: z.string().min(1).max(256), role: MappedRole })).max(100),
});
export type RoleMapping = z.output<typeof RoleMapping>;

/** OpenID Connect provider of an organization: one document, `oidc`, stored under the tenant. */
export const IdentityProvider = z.strictObject({
  enabled: z.boolean(),
  issuer: z.string().nullable(),
  clientId: z.string().nullable(),
  /** Client secret, encrypted with the installation's secret key; null for a public client. */
  clientSecret: z.string().nullable(),
  scopes: z.array(z.string()),
  /** Email domains whose users may join; verified by a DNS record. */
  domains: z.array(z.strictObject({ name: z.string(), provedAt: z.iso.datetime().nullable() })),
  roleMapping: RoleMapping.nullable(),
  /** Role of users without a matching mapping; null denies access. */
  defaultRole: MappedRole.nullable(),
});
export type IdentityProvider = z.output<typeof IdentityProvider>;

export const identityProviders = defineCollection<IdentityProvider>({ name: 'identity-providers' });
export const identityProviderId = 'oidc';

/** Maps an email domain to the organizations that verified it. Stored under `platformTenant`. */
export const ProvedDomain = z.strictObject({ domain: z.string(), tenantId: z.string() });
export type ProvedDomain = z.output<typeof ProvedDomain>;
export const provedDomains = defineCollection<ProvedDomain>({
  name: 'proved-domains',
  uniqueEverywhere: [['domain', 'tenantId']],
  indexes: [['domain']],
});
export const provedDomainsTenant = platformTenant;
