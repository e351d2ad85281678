import { identityProviderId, identityProviders } from '../../../schemas/resources/identity-provider.ts';
import { redirectUriOf } from '../../identity/sso/oidc-client.ts';
import { noProvider, ProviderView, viewOf } from '../../identity/sso/view.ts';
import { defineOperation } from '../../kernel/operation.ts';

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
