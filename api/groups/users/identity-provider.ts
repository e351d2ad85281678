import type { z } from 'zod';
import {
  type IdentityProvider,
  identityProviderId,
  identityProviders,
} from '../../../schemas/resources/identity-provider.ts';
import { fieldError } from '../../errors.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { isDomainVerified, normalizeDomain, routeDomains } from '../../identity/sso/domains.ts';
import { buildRedirectUri, clientSecretPurpose } from '../../identity/sso/oidc-client.ts';
import { describeFailure, discoverProvider, findIssuerProblem } from '../../identity/sso/provider.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { markSecretChanges, sealSecrets } from '../../resources/resource-secrets.ts';
import { noProvider, ProviderBody, ProviderView, secretFields, toProviderView } from './identity-provider-view.ts';

export const getIdentityProvider = defineOperation({
  method: 'GET',
  path: '/api/account/identity-provider',
  operationId: 'getIdentityProvider',
  summary: 'Get the OpenID Connect provider: issuer, client, domains and their verification, role mapping',
  role: 'admin',
  response: ProviderView,
  async handler({ caller: { tenantId }, request }, { documents, secretBox, settings }) {
    const provider = await documents.forTenant(tenantId).collection(identityProviders).find(identityProviderId);
    const redirectUri = buildRedirectUri(settings, request.host);
    return toProviderView(provider ?? noProvider, { tenantId, box: secretBox, redirectUri });
  },
});

type Body = z.output<typeof ProviderBody>;

export const setIdentityProvider = defineOperation({
  method: 'PUT',
  path: '/api/account/identity-provider',
  operationId: 'setIdentityProvider',
  summary:
    'Set the identity provider; it can map up to the role Admin. Domains are verified by DNS on each save. Disabling it, or changing issuer or client, ends the sessions started through it',
  role: 'admin',
  people: true,
  audit: 'identity-provider.update',
  body: ProviderBody,
  response: ProviderView,
  async handler({ caller: { tenantId }, body, request, change }, ports) {
    const { documents, secretBox, settings } = ports;
    const before = await documents.forTenant(tenantId).collection(identityProviders).find(identityProviderId);
    const provider: IdentityProvider = sealSecrets(
      { ...omitIgnored(body), domains: await verifyDomains(body, before ?? noProvider, tenantId, ports) },
      secretFields,
      { before, box: secretBox, purpose: clientSecretPurpose },
    );
    if (provider.enabled) await requireReachableProvider(provider, ports);
    await change(async ({ forTenant, record }) => {
      const tenantProviders = forTenant(tenantId).collection(identityProviders);
      if (before === undefined) await tenantProviders.insert({ id: identityProviderId, ...provider });
      else await tenantProviders.replace(identityProviderId, provider, before.version);
      await routeDomains(forTenant, tenantId, provider);
      record({
        id: identityProviderId,
        name: provider.issuer ?? '',
        ...(before === undefined ? {} : { before: markSecretChanges(before, secretFields) }),
        after: markSecretChanges(provider, secretFields, before),
      });
      if (before !== undefined && mustEndSessions(before, provider))
        await removeSessions({ forTenant }, { tenantId, provedBy: tenantId });
    });
    return toProviderView(provider, {
      tenantId,
      box: secretBox,
      redirectUri: buildRedirectUri(settings, request.host),
    });
  },
});

const omitIgnored = ({ redirectUri: _, ...fields }: Body): Omit<Body, 'redirectUri'> => fields;

/** Whether sessions opened by the provider must end. */
const mustEndSessions = (before: IdentityProvider, { enabled, issuer, clientId }: IdentityProvider): boolean =>
  before.enabled && (!enabled || issuer !== before.issuer || clientId !== before.clientId);

/** Verifies the domains in DNS. If DNS does not respond, a domain keeps its previous verification. */
const verifyDomains = (
  body: Body,
  before: IdentityProvider,
  tenantId: string,
  { outbound, secretBox, clock }: Ports,
): Promise<IdentityProvider['domains']> => {
  const names = body.domains.map(({ name }, index) => {
    const domain = normalizeDomain(name);
    if (domain === undefined) throw fieldError(`domains.${index}.name`, 'is not a domain');
    return domain;
  });
  return Promise.all(
    [...new Set(names)].map(async (name) => {
      const provedBefore = before.domains.find((domain) => domain.name === name)?.provedAt ?? null;
      const isProvedNow = await isDomainVerified({ outbound, box: secretBox }, tenantId, name);
      if (isProvedNow === undefined) return { name, provedAt: provedBefore };
      return { name, provedAt: isProvedNow ? (provedBefore ?? new Date(clock.now()).toISOString()) : null };
    }),
  );
};

/** Throws unless the provider is reachable and identifies itself as the issuer. */
const requireReachableProvider = async (
  { issuer, clientId, clientSecret }: IdentityProvider,
  { outbound, secretBox }: Ports,
): Promise<void> => {
  if (issuer === null) throw fieldError('issuer', 'is required if the provider is enabled');
  if (clientId === null) throw fieldError('clientId', 'is required if the provider is enabled');
  const problem = findIssuerProblem(issuer);
  if (problem !== undefined) throw fieldError('issuer', problem);
  const secret = clientSecret === null ? undefined : secretBox.open(clientSecretPurpose, clientSecret);
  try {
    await discoverProvider({ issuer, clientId, clientSecret: secret }, outbound);
  } catch (error) {
    throw fieldError('issuer', `is not a reachable OpenID Connect provider of this issuer: ${describeFailure(error)}`);
  }
};
