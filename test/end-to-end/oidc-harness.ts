/** The API with a real OpenID Connect provider, and a DNS resolver that the test controls. */
import { openOutbound } from '../../runtime/outbound.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../services/openid-provider.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';
import { type Browser, openBrowser, type Page } from './browser.ts';

export const clientId = 'oiq';
export const clientSecret = 'a secret that only the two know, and long enough';

export interface OidcHarness {
  readonly harness: Harness;
  readonly provider: OpenIdProvider;
  /** TXT records by name; a missing name has none. */
  readonly records: Map<string, readonly string[]>;
  /** Configures the identity provider of an organization, as its owner. */
  set(tenant: string, changes?: object): Promise<Answer>;
  /** Verifies a domain for an organization. */
  prove(tenant: string, domain: string): Promise<Answer>;
  /** Signs in at the real provider as a subject. Returns the final page of the browser. */
  signIn(subject: string, query: string, browser?: Browser): Promise<Page>;
  /** The session of a browser. */
  session(browser: Browser): Promise<Answer>;
  /** Advances the API's clock. */
  ahead(ms: number): void;
  close(): Promise<void>;
}

export const startOidcHarness = async (): Promise<OidcHarness> => {
  const records = new Map<string, readonly string[]>();
  const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'] });
  let aheadMs = 0;
  const harness = await startHarness({
    now: () => Date.now() + aheadMs,
    outbound: { fetch: outbound.fetch, resolveTxt: async (name) => records.get(name) ?? [] },
  });
  const provider = await startOpenIdProvider([
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [`${harness.url}/auth/sso/oidc/callback`],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ]);
  const owners = new Map<string, Promise<string>>();
  const ownerOf = (tenant: string): Promise<string> => {
    const token = owners.get(tenant) ?? harness.signIn(`owner@${tenant}.example`);
    owners.set(tenant, token);
    return token;
  };
  const set = async (tenant: string, changes: object = {}): Promise<Answer> =>
    harness.request('PUT', '/api/account/identity-provider', {
      as: `token ${await ownerOf(tenant)}`,
      body: { enabled: true, issuer: provider.issuer, clientId, clientSecret, ...changes },
    });
  return {
    harness,
    provider,
    records,
    set,
    async prove(tenant, domain) {
      const pending = await set(tenant, { domains: [{ name: domain }] });
      const record = pending.body.domains[0].record;
      records.set(record.name, [...(records.get(record.name) ?? []), 'v=spf1 -all', record.value]);
      return set(tenant, { domains: [{ name: domain }] });
    },
    async signIn(subject, query, browser = openBrowser()) {
      await provider.signIn(subject);
      return browser.visit(`${harness.url}/auth/sso/oidc/start?${query}`);
    },
    session: (browser) =>
      harness.request('GET', '/auth/session', { as: `token ${browser.cookie(harness.url, 'oiq_token') ?? 'none'}` }),
    ahead(ms) {
      aheadMs = ms;
    },
    async close() {
      await provider.stop();
      await harness.close();
    },
  };
};
