import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import {
  type IdentityProvider,
  identityProviderId,
  identityProviders,
} from '../../../schemas/resources/identity-provider.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { trimTrailing } from '../../../schemas/text.ts';
import type { IdentityPorts } from '../ports.ts';
import type { Client } from './provider.ts';

/** Returns an organization's enabled provider, and the client that is registered there for this installation. */
export const findEnabledProvider = async (
  tenantId: string,
  { documents, secretBox }: Pick<IdentityPorts, 'documents' | 'secretBox'>,
): Promise<{ provider: IdentityProvider & StoredMetadata; client: Client } | undefined> => {
  const organization = await documents.forTenant(organizationsTenant).collection(organizations).find(tenantId);
  if (organization?.disabled !== false) return undefined;
  const provider = await documents.forTenant(tenantId).collection(identityProviders).find(identityProviderId);
  if (!provider?.enabled || provider.issuer === null || provider.clientId === null) return undefined;
  const { issuer, clientId, clientSecret } = provider;
  const clientSecretText = clientSecret === null ? undefined : secretBox.open(clientSecretPurpose, clientSecret);
  return { provider, client: { issuer, clientId, clientSecret: clientSecretText } };
};

/** The address to which providers redirect browsers. */
export const buildRedirectUri = (settings: IdentityPorts['settings'], host: string): string =>
  `${trimTrailing(settings.PUBLIC_URL ?? `http://${host}`, '/')}/auth/sso/oidc/callback`;

/** Purpose for sealing client secrets */
export const clientSecretPurpose = 'identity provider';
