import { z } from 'zod';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import { type IdentityProvider, MappedRole, RoleMapping } from '../../../schemas/resources/identity-provider.ts';
import { createVerificationRecord } from '../../identity/sso/domains.ts';
import { createSecretSchema, maskSecrets, type SecretField } from '../../resources/resource-secrets.ts';

export const secretFields: readonly SecretField[] = [{ path: 'clientSecret', destination: ['issuer', 'clientId'] }];

const IgnoredField = z.unknown().optional().describe('Ignored');
const maxDomains = 50;

const fields = {
  enabled: z.boolean(),
  issuer: z.string().max(1024).nullable().describe('https://…, in the spelling of the provider'),
  clientId: z.string().min(1).max(512).nullable(),
  clientSecret: createSecretSchema(z.string().min(1).max(1024)).nullable().describe('null for a public client'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/))
    .max(20)
    .refine((scopes) => scopes.includes('openid'), 'must contain openid'),
  roleMapping: RoleMapping.nullable().describe('null: the organization manages roles'),
  defaultRole: MappedRole.nullable().describe('Role of new people without a mapped role; null denies them access'),
};

/** Body of a request. Fields that the server owns are accepted and ignored, so that a response can be sent back. */
export const ProviderBody = z.strictObject({
  ...fields,
  clientSecret: fields.clientSecret.default(null),
  scopes: fields.scopes.default(['openid', 'email', 'profile']),
  roleMapping: fields.roleMapping.default(null),
  defaultRole: fields.defaultRole.default('viewer'),
  domains: z
    .array(z.strictObject({ name: z.string().min(1).max(253), provedAt: IgnoredField, record: IgnoredField }))
    .max(maxDomains)
    .default([]),
  redirectUri: IgnoredField,
});

/** The resource in API responses */
export const ProviderView = z.strictObject({
  ...fields,
  domains: z.array(
    z.strictObject({
      name: z.string(),
      provedAt: z.iso.datetime().nullable(),
      record: z
        .strictObject({ type: z.literal('TXT'), name: z.string(), value: z.string() })
        .describe('DNS record that verifies the domain; save the provider again after you have added it'),
    }),
  ),
  redirectUri: z.string().describe('URI to register at the provider'),
});

/** For organizations without a provider */
export const emptyProvider: IdentityProvider = {
  enabled: false,
  issuer: null,
  clientId: null,
  clientSecret: null,
  scopes: ['openid', 'email', 'profile'],
  domains: [],
  roleMapping: null,
  defaultRole: 'viewer',
};

export const toProviderView = (
  provider: IdentityProvider,
  { tenantId, box, redirectUri }: { readonly tenantId: string; readonly box: SecretBox; readonly redirectUri: string },
): z.input<typeof ProviderView> => {
  const { enabled, issuer, clientId, clientSecret, scopes, domains, roleMapping, defaultRole } = maskSecrets(
    provider,
    secretFields,
  );
  return {
    enabled,
    issuer,
    clientId,
    clientSecret,
    scopes,
    roleMapping,
    defaultRole,
    redirectUri,
    domains: domains.map((domain) => ({
      ...domain,
      record: { type: 'TXT', name: domain.name, value: createVerificationRecord(box, tenantId, domain.name) },
    })),
  };
};
