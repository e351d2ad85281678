import type { z } from 'zod';
import {
  type IdentityProvider,
  identityProviderId,
  identityProviders,
} from '../../../schemas/resources/identity-provider.ts';
import { invalid } from '../../errors.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { domainOf, isProved, routeDomains } from '../../identity/sso/domains.ts';
import { clientSecretPurpose, redirectUriOf } from '../../identity/sso/oidc-client.ts';
import { discover, issuerProblem, reasonOf } from '../../identity/sso/provider.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { markSecretChanges, sealSecrets } from '../../resources/resource-secrets.ts';
import { noProvider, ProviderBody, ProviderView, secretFields, viewOf } from './identity-provider-view.ts';

export const getIdentityProvider = defineOperation({
  method: 'GET',
  path: '/api/account/identity-provider',
  operationId: 'getIdentityProvider',
  summary: 'Get the OpenID Connect provider: issuer, client, domains and their verification, role mapping',
  role: 'admin',
  response: ProviderView,
  async handler({ caller: { tenantId }, request }, { documents, secretBox, settings }) {
    const provider = await documents.of(tenantId).collection(identityProviders).find(identityProviderId);
    const redirectUri = redirectUriOf(settings, request.host);
    return viewOf(provider ?? noProvider, { tenantId, box: secretBox, redirectUri });
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
    const before = await documents.of(tenantId).collection(identityProviders).find(identityProviderId);
    const provider: IdentityProvider = sealSecrets(
      { ...withoutIgnored(body), domains: await verifyDomains(body, before ?? noProvider, tenantId, ports) },
      secretFields,
      { before, box: secretBox, purpose: clientSecretPurpose },
    );
    if (provider.enabled) await refuseUnlessItAnswers(provider, ports);
    await change(async ({ of, record }) => {
      const own = of(tenantId).collection(identityProviders);
      if (before === undefined) await own.insert({ id: identityProviderId, ...provider });
      else await own.replace(identityProviderId, provider, before.version);
      await routeDomains(of, tenantId, provider);
      record({
        id: identityProviderId,
        name: provider.issuer ?? '',
        ...(before === undefined ? {} : { before: markSecretChanges(before, secretFields) }),
        after: markSecretChanges(provider, secretFields, before),
      });
      if (before !== undefined && isReplaced(before, provider))
        await removeSessions({ of }, { tenantId, provedBy: tenantId });
    });
    return viewOf(provider, { tenantId, box: secretBox, redirectUri: redirectUriOf(settings, request.host) });
  },
});

const withoutIgnored = ({ redirectUri: _, ...fields }: Body): Omit<Body, 'redirectUri'> => fields;

/** Whether sessions opened by the provider must end. */
const isReplaced = (before: IdentityProvider, { enabled, issuer, clientId }: IdentityProvider): boolean =>
  before.enabled && (!enabled || issuer !== before.issuer || clientId !== before.clientId);

/** The domains with their current verification in DNS. If DNS does not answer, a verified domain stays verified. */
const verifyDomains = (
  body: Body,
  before: IdentityProvider,
  tenantId: string,
  { outbound, secretBox, clock }: Ports,
): Promise<IdentityProvider['domains']> => {
  const names = body.domains.map(({ name }, index) => {
    const domain = domainOf(name);
    if (domain === undefined) throw invalid(`domains.${index}.name`, 'is not a domain');
    return domain;
  });
  return Promise.all(
    [...new Set(names)].map(async (name) => {
      const earlier = before.domains.find((domain) => domain.name === name)?.provedAt ?? null;
      const proved = await isProved({ outbound, box: secretBox }, tenantId, name);
      if (proved === undefined) return { name, provedAt: earlier };
      return { name, provedAt: proved ? (earlier ?? new Date(clock.now()).toISOString()) : null };
    }),
  );
};

/** Rejects an enabled provider that does not answer as the issuer. */
const refuseUnlessItAnswers = async (
  { issuer, clientId, clientSecret }: IdentityProvider,
  { outbound, secretBox }: Ports,
): Promise<void> => {
  if (issuer === null) throw invalid('issuer', 'is required if the provider is enabled');
  if (clientId === null) throw invalid('clientId', 'is required if the provider is enabled');
  const problem = issuerProblem(issuer);
  if (problem !== undefined) throw invalid('issuer', problem);
  const secret = clientSecret === null ? undefined : secretBox.open(clientSecretPurpose, clientSecret);
  try {
    await discover({ issuer, clientId, clientSecret: secret }, outbound);
  } catch (error) {
    throw invalid('issuer', `is not a reachable OpenID Connect provider of this issuer: ${reasonOf(error)}`);
  }
};
