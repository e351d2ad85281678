import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { provedDomains, provedDomainsTenant } from '../../../schemas/resources/identity-provider.ts';
import type { User } from '../../../schemas/resources/user.ts';
import { personOf } from '../../callers/caller.ts';
import { ApiError, invalid } from '../../errors.ts';
import { authenticate, unauthenticated } from '../../identity/session.ts';
import { beginSession } from '../../identity/sessions.ts';
import { admissionActions, admit, linkIdentity } from '../../identity/sso/admission.ts';
import { domainOfEmail } from '../../identity/sso/domains.ts';
import { consumeFlow, type Flow, flowLifetimeMs, isLocalPath, storeFlow } from '../../identity/sso/flow.ts';
import { providerOf, redirectUriOf } from '../../identity/sso/oidc-client.ts';
import { authorizationUrl, claimsOf, discoverNow } from '../../identity/sso/provider.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import type { RequestFacts } from '../../request-facts.ts';

export const startOidc = defineOperation({
  method: 'GET',
  path: '/auth/sso/oidc/start',
  operationId: 'startOidc',
  summary: 'Redirect the browser to the organization’s OpenID Connect provider (authorization code, PKCE)',
  role: 'none',
  hidden: true,
  limit: { rate: 5, burst: 100 },
  query: z.strictObject({
    organization: z.string().min(1).max(64).optional().describe('Id of the organization'),
    email: z
      .string()
      .min(3)
      .max(320)
      .optional()
      .describe('E-mail address, to find the organization that verified its domain'),
    returnTo: z
      .string()
      .max(1024)
      .refine(isLocalPath, 'must be a path of this site')
      .default('/')
      .describe('Path to return to after sign-in'),
    link: z.literal('true').optional().describe('Link the identity to the signed-in user'),
  }),
  response: z.strictObject({}),
  async handler({ query, request }, ports) {
    const { settings, outbound, secretBox, clock } = ports;
    const email = query.email?.trim().toLowerCase();
    const person = query.link === undefined ? undefined : await personIn(request, ports);
    const tenantId = person?.tenantId ?? query.organization ?? (await tenantOf(email, ports));
    const known = tenantId === undefined ? undefined : await providerOf(tenantId, ports);
    // An unknown organization gives the same error, so that it does not reveal which organizations exist.
    if (tenantId === undefined || known === undefined)
      throw new ApiError('NOT_FOUND', 'this organization or address has no single sign-on');
    const { client, provider } = known;
    const secrets = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const configuration = await discoverNow(client, outbound);
    const redirectUri = redirectUriOf(settings, request.host);
    const url = await authorizationUrl(configuration, secrets, { redirectUri, scopes: provider.scopes, email });
    storeFlow(request, secretBox, {
      tenantId,
      issuer: client.issuer,
      clientId: client.clientId,
      ...secrets,
      returnTo: query.returnTo,
      ...(person === undefined ? {} : { link: { userId: person.userId, sessionId: person.sessionId } }),
      expiresAtMs: clock.now() + flowLifetimeMs,
    });
    request.redirect(url);
    return {};
  },
});

/** The organization with single sign-on that verified the domain of an address; of several, the first one. */
const tenantOf = async (email: string | undefined, ports: Ports): Promise<string | undefined> => {
  if (email === undefined) throw invalid('organization', 'is required, unless an e-mail address is given');
  const domain = domainOfEmail(email);
  if (domain === undefined) throw invalid('email', 'is not an e-mail address');
  const { items } = await ports.documents
    .of(provedDomainsTenant)
    .collection(provedDomains)
    .list({ filter: { domain }, sort: { createdAt: 1 }, limit: 10 });
  for (const { tenantId } of items) if ((await providerOf(tenantId, ports)) !== undefined) return tenantId;
  return undefined;
};

/**
 * The signed-in user who links an identity. The request must be from a page of this site: another site must not link
 * identities.
 */
const personIn = async ({ header }: RequestFacts, ports: Ports) => {
  const headers: Record<string, string> = {};
  for (const name of ['authorization', 'cookie', 'origin', 'host', 'sec-fetch-site'])
    if (header(name) !== '') headers[name] = header(name);
  return personOf(await authenticate({ headers, method: 'POST' }, ports));
};

export const finishOidc = defineOperation({
  method: 'GET',
  path: '/auth/sso/oidc/callback',
  operationId: 'finishOidc',
  summary:
    'Callback of the identity provider: signs the user in, admits them by verified domain, or links the identity',
  role: 'none',
  hidden: true,
  limit: { rate: 5, burst: 100 },
  changes: true,
  audit: ['session.begin', ...admissionActions],
  // Providers add their own parameters, which clients must ignore according to OpenID Connect.
  query: z.looseObject({ state: z.string().max(512).optional() }),
  response: z.strictObject({}),
  async handler({ query, request, change }, ports) {
    const { secretBox, counters, clock, settings, outbound } = ports;
    const flow = await consumeFlow(request, query.state, { box: secretBox, counters, nowMs: clock.now() });
    const known = await providerOf(flow.tenantId, ports);
    if (known === undefined || known.client.issuer !== flow.issuer || known.client.clientId !== flow.clientId)
      throw unauthenticated('the identity provider was changed meanwhile; start again');
    const { provider, client } = known;
    const { roleMapping } = provider;
    const claims = await claimsOf(await discoverNow(client, outbound), flow, {
      answered: answeredTo(redirectUriOf(settings, request.host), query),
      needed: ['email', ...(roleMapping === null ? [] : [roleMapping.claim])],
    });
    const { tenantId } = flow;
    if (flow.link !== undefined) {
      await linkIdentity({ tenantId, claims, change }, linkingUser(flow.link, tenantId, ports), ports);
    } else {
      const user = await admit({ tenantId, provider, claims, change }, ports);
      const organization = ports.directory.organizationsOf(user.id).find(({ id }) => id === tenantId);
      if (organization === undefined) throw new ApiError('FORBIDDEN', 'this user is not in the organization');
      await beginSession({ user, organization, request, change, provedBy: tenantId }, ports);
    }
    request.redirect(flow.returnTo);
    return {};
  },
});

/** The callback URL with the provider's answer, with the redirect URI that the provider received. */
const answeredTo = (redirectUri: string, query: Readonly<Record<string, unknown>>): URL => {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) url.searchParams.append(name, String(one));
  return url;
};

/** The user who started the link. Throws if the session has ended. */
const linkingUser = (
  { userId, sessionId }: NonNullable<Flow['link']>,
  tenantId: string,
  { directory }: Ports,
): User & Stored => {
  const caller = directory.caller(sessionId, userId, tenantId);
  if (caller === undefined) throw unauthenticated('sign in before you link an identity');
  return caller.user;
};
