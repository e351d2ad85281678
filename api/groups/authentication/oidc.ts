import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { provedDomains, provedDomainsTenant } from '../../../schemas/resources/identity-provider.ts';
import type { User } from '../../../schemas/resources/user.ts';
import { requireUser } from '../../callers/caller.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { authenticate, createUnauthenticatedError } from '../../identity/session.ts';
import { beginSession } from '../../identity/sessions.ts';
import { admissionActions, admitUser, linkIdentity } from '../../identity/sso/admission.ts';
import { extractDomain } from '../../identity/sso/domains.ts';
import { buildRedirectUri, findEnabledProvider } from '../../identity/sso/enabled-provider.ts';
import { consumeFlow, type Flow, flowLifetimeMs, isLocalPath, storeFlow } from '../../identity/sso/flow.ts';
import { createAuthorizationUrl, discoverOrUnavailable, exchangeCode } from '../../identity/sso/provider.ts';
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
    const linkingUser = query.link === undefined ? undefined : await authenticateUser(request, ports);
    const tenantId = linkingUser?.tenantId ?? query.organization ?? (await findTenantByEmail(email, ports));
    const registeredProvider = tenantId === undefined ? undefined : await findEnabledProvider(tenantId, ports);
    // The error is the same for an unknown organization, so that it does not reveal which organizations exist.
    if (tenantId === undefined || registeredProvider === undefined)
      throw new ApiError('NOT_FOUND', 'this organization or address has no single sign-on');
    const { client, provider } = registeredProvider;
    const secrets = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const configuration = await discoverOrUnavailable(client, outbound);
    const redirectUri = buildRedirectUri(settings, request.host);
    const url = await createAuthorizationUrl(configuration, secrets, { redirectUri, scopes: provider.scopes, email });
    storeFlow(request, secretBox, {
      tenantId,
      issuer: client.issuer,
      clientId: client.clientId,
      ...secrets,
      returnTo: query.returnTo,
      ...(linkingUser === undefined ? {} : { link: { userId: linkingUser.userId, sessionId: linkingUser.sessionId } }),
      expiresAtMs: clock.now() + flowLifetimeMs,
    });
    request.redirect(url);
    return {};
  },
});

/** Returns the organization with single sign-on that verified the domain of an address; if there are several, the first one. */
const findTenantByEmail = async (email: string | undefined, ports: Ports): Promise<string | undefined> => {
  if (email === undefined) throw createFieldError('organization', 'is required, unless an e-mail address is given');
  const domain = extractDomain(email);
  if (domain === undefined) throw createFieldError('email', 'is not an e-mail address');
  const { items } = await ports.documents
    .forTenant(provedDomainsTenant)
    .collection(provedDomains)
    .list({ filter: { domain }, sort: { createdAt: 1 }, limit: 10 });
  for (const { tenantId } of items) if ((await findEnabledProvider(tenantId, ports)) !== undefined) return tenantId;
  return undefined;
};

/**
 * The signed-in user who links an identity. The request must be from a page of this site: another site must not link
 * identities.
 */
const authenticateUser = async ({ header }: RequestFacts, ports: Ports) => {
  const headers: Record<string, string> = {};
  for (const name of ['authorization', 'cookie', 'origin', 'host', 'sec-fetch-site'])
    if (header(name) !== '') headers[name] = header(name);
  return requireUser(await authenticate({ headers, method: 'POST' }, ports));
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
    const registeredProvider = await findEnabledProvider(flow.tenantId, ports);
    if (
      registeredProvider === undefined ||
      registeredProvider.client.issuer !== flow.issuer ||
      registeredProvider.client.clientId !== flow.clientId
    )
      throw createUnauthenticatedError('the identity provider was changed in the meantime; start again');
    const { provider, client } = registeredProvider;
    const { roleMapping } = provider;
    const claims = await exchangeCode(await discoverOrUnavailable(client, outbound), flow, {
      callbackUrl: toCallbackUrl(buildRedirectUri(settings, request.host), query),
      requiredClaims: ['email', ...(roleMapping === null ? [] : [roleMapping.claim])],
    });
    const { tenantId } = flow;
    if (flow.link !== undefined) {
      await linkIdentity({ tenantId, claims, change }, findLinkingUser(flow.link, tenantId, ports), ports);
    } else {
      const user = await admitUser({ tenantId, provider, claims, change }, ports);
      const organization = ports.directory.listOrganizationsOfUser(user.id).find(({ id }) => id === tenantId);
      if (organization === undefined) throw new ApiError('FORBIDDEN', 'this user is not in the organization');
      await beginSession({ user, organization, request, change, provedBy: tenantId }, ports);
    }
    request.redirect(flow.returnTo);
    return {};
  },
});

/** Returns the callback URL with the parameters of the provider, based on the redirect URI that the provider received. */
const toCallbackUrl = (redirectUri: string, query: Readonly<Record<string, unknown>>): URL => {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(query))
    for (const singleValue of [value].flat()) url.searchParams.append(name, String(singleValue));
  return url;
};

/** Returns the user who started the linking of an identity. Throws if the session has ended. */
const findLinkingUser = (
  { userId, sessionId }: NonNullable<Flow['link']>,
  tenantId: string,
  { directory }: Ports,
): User & StoredMetadata => {
  const caller = directory.getCaller(sessionId, userId, tenantId);
  if (caller === undefined) throw createUnauthenticatedError('sign in before you link an identity');
  return caller.user;
};
