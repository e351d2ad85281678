import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/** Roles that a provider may assign: only Owners create Owners. */
const mappedRoles = ['viewer', 'editor', 'admin', 'auditor'] as const;
export const MappedRole = z.enum(mappedRoles);
export type MappedRole = z.output<typeof MappedRole>;

/** Which values of a claim make which role; the first that is there decides. */
export const RoleMapping = z.strictObject({
  claim: z.string().min(1).max(256).describe('Claim of the ID token or of userinfo; a string or a list of strings'),
  roles: z.array(z.strictObject({ value: z.string().min(1).max(256), role: MappedRole })).max(100),
});
export type RoleMapping = z.output<typeof RoleMapping>;

/** An organization's OpenID Connect provider; one document, `oidc`, stored under the tenant. */
export const IdentityProvider = z.strictObject({
  enabled: z.boolean(),
  issuer: z.string().nullable(),
  clientId: z.string().nullable(),
  /** Encrypted with the installation's secret key; null for a public client. */
  clientSecret: z.string().nullable(),
  scopes: z.array(z.string()),
  /** Domains of e-mail addresses whose people may be taken in; proved by a DNS record. */
  domains: z.array(z.strictObject({ name: z.string(), provedAt: z.iso.datetime().nullable() })),
  roleMapping: RoleMapping.nullable(),
  /** Of those for whom no mapping holds; null keeps them out. */
  defaultRole: MappedRole.nullable(),
});
export type IdentityProvider = z.output<typeof IdentityProvider>;

export const identityProviders = defineCollection<IdentityProvider>({ name: 'identity-providers' });
export const identityProviderId = 'oidc';

/** Leads from an address's domain to the organizations that proved it. Stored under `platformTenant`. */
export const ProvedDomain = z.strictObject({ domain: z.string(), tenantId: z.string() });
export type ProvedDomain = z.output<typeof ProvedDomain>;
export const provedDomains = defineCollection<ProvedDomain>({
  name: 'proved-domains',
  uniqueEverywhere: [['domain', 'tenantId']],
  indexes: [['domain']],
});
export const provedDomainsTenant = platformTenant;
