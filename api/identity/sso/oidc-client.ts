import type { Stored } from '../../../schemas/ports/documents.ts';
import {
  type IdentityProvider,
  identityProviderId,
  identityProviders,
} from '../../../schemas/resources/identity-provider.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { withoutTrailing } from '../../../schemas/text.ts';
import type { IdentityPorts } from '../ports.ts';
import type { Client } from './provider.ts';

/** Returns an organization's enabled provider, with our client there. */
export const providerOf = async (
  tenantId: string,
  { documents, secretBox }: Pick<IdentityPorts, 'documents' | 'secretBox'>,
): Promise<{ provider: IdentityProvider & Stored; client: Client } | undefined> => {
  const organization = await documents.of(organizationsTenant).collection(organizations).find(tenantId);
  if (organization?.disabled !== false) return undefined;
  const provider = await documents.of(tenantId).collection(identityProviders).find(identityProviderId);
  if (!provider?.enabled || provider.issuer === null || provider.clientId === null) return undefined;
  const { issuer, clientId, clientSecret } = provider;
  const opened = clientSecret === null ? undefined : secretBox.open(clientSecretPurpose, clientSecret);
  return { provider, client: { issuer, clientId, clientSecret: opened } };
};

/** The address to which providers redirect browsers. */
export const redirectUriOf = (settings: IdentityPorts['settings'], host: string): string =>
  `${withoutTrailing(settings.PUBLIC_URL ?? `http://${host}`, '/')}/auth/sso/oidc/callback`;

/** Purpose for sealing client secrets */
export const clientSecretPurpose = 'identity provider';
