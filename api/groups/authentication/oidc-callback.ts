import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import type { User } from '../../../schemas/resources/user.ts';
import { unauthenticated } from '../../identity/session.ts';
import { beginSession } from '../../identity/sessions.ts';
import { admissionActions, admit, linkIdentity } from '../../identity/sso/admission.ts';
import { type Flow, takeFlow } from '../../identity/sso/flow.ts';
import { providerOf, redirectUriOf } from '../../identity/sso/oidc-client.ts';
import { claimsOf, discoverNow } from '../../identity/sso/provider.ts';
import { ApiError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';

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
  // Providers add parameters of their own, which OpenID Connect says to ignore.
  query: z.looseObject({ state: z.string().max(512).optional() }),
  response: z.strictObject({}),
  async handler({ query, request, change }, ports) {
    const { secretBox, counters, clock, settings, outbound } = ports;
    const flow = await takeFlow(request, query.state, { box: secretBox, counters, nowMs: clock.now() });
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

/** The address at which the provider's answer arrived, as the provider was told it. */
const answeredTo = (redirectUri: string, query: Readonly<Record<string, unknown>>): URL => {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) url.searchParams.append(name, String(one));
  return url;
};

/** Who began to link must still be signed in. */
const linkingUser = (
  { userId, sessionId }: NonNullable<Flow['link']>,
  tenantId: string,
  { directory }: Ports,
): User & Stored => {
  const caller = directory.caller(sessionId, userId, tenantId);
  if (caller === undefined) throw unauthenticated('sign in before you link an identity');
  return caller.user;
};
