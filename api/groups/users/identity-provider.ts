import type { z } from 'zod';
import {
  type IdentityProvider,
  identityProviderId,
  identityProviders,
} from '../../../schemas/resources/identity-provider.ts';
import { createFieldError } from '../../errors.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { isDomainVerified, normalizeDomain, syncVerifiedDomains } from '../../identity/sso/domains.ts';
import { buildRedirectUri, clientSecretPurpose } from '../../identity/sso/enabled-provider.ts';
import { describeFailure, discoverProvider, findIssuerProblem } from '../../identity/sso/provider.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { markSecretChanges, sealSecrets } from '../../resources/resource-secrets.ts';
import { emptyProvider, ProviderBody, ProviderView, secretFields, toProviderView } from './identity-provider-view.ts';

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
    return toProviderView(provider ?? emptyProvider, { tenantId, box: secretBox, redirectUri });
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
      { ...omitIgnoredFields(body), domains: await verifyDomains(body, before ?? emptyProvider, tenantId, ports) },
      secretFields,
      { before, box: secretBox, purpose: clientSecretPurpose },
    );
    if (provider.enabled) await requireReachableProvider(provider, ports);
    await change(async ({ forTenant, record }) => {
      const tenantProviders = forTenant(tenantId).collection(identityProviders);
      if (before === undefined) await tenantProviders.insert({ id: identityProviderId, ...provider });
      else await tenantProviders.replace(identityProviderId, provider, before.version);
      await syncVerifiedDomains(forTenant, tenantId, provider);
      record({
        id: identityProviderId,
        name: provider.issuer ?? '',
        ...(before === undefined ? {} : { before: markSecretChanges(before, secretFields) }),
        after: markSecretChanges(provider, secretFields, before),
      });
      if (before !== undefined && shouldEndSessions(before, provider))
        await removeSessions({ forTenant }, { tenantId, provedBy: tenantId });
    });
    return toProviderView(provider, {
      tenantId,
      box: secretBox,
      redirectUri: buildRedirectUri(settings, request.host),
    });
  },
});

const omitIgnoredFields = ({ redirectUri: _, ...fields }: Body): Omit<Body, 'redirectUri'> => fields;

/** Whether sessions opened by the provider must end. */
const shouldEndSessions = (before: IdentityProvider, { enabled, issuer, clientId }: IdentityProvider): boolean =>
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
    if (domain === undefined) throw createFieldError(`domains.${index}.name`, 'is not a domain');
    return domain;
  });
  return Promise.all(
    [...new Set(names)].map(async (name) => {
      const previousProvedAt = before.domains.find((domain) => domain.name === name)?.provedAt ?? null;
      const isProvedNow = await isDomainVerified({ outbound, box: secretBox }, tenantId, name);
      if (isProvedNow === undefined) return { name, provedAt: previousProvedAt };
      return { name, provedAt: isProvedNow ? (previousProvedAt ?? new Date(clock.now()).toISOString()) : null };
    }),
  );
};

/** Throws unless the provider is reachable and identifies itself as the issuer. */
const requireReachableProvider = async (
  { issuer, clientId, clientSecret }: IdentityProvider,
  { outbound, secretBox }: Ports,
): Promise<void> => {
  if (issuer === null) throw createFieldError('issuer', 'is required if the provider is enabled');
  if (clientId === null) throw createFieldError('clientId', 'is required if the provider is enabled');
  const problem = findIssuerProblem(issuer);
  if (problem !== undefined) throw createFieldError('issuer', problem);
  const secret = clientSecret === null ? undefined : secretBox.open(clientSecretPurpose, clientSecret);
  try {
    await discoverProvider({ issuer, clientId, clientSecret: secret }, outbound);
  } catch (error) {
    throw createFieldError(
      'issuer',
      `is not the issuer of a reachable OpenID Connect provider: ${describeFailure(error)}`,
    );
  }
};
