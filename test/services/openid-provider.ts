/**
 * An OpenID Connect provider in a process of its own: `node openid-provider.ts CLIENTS`, where CLIENTS is JSON. Prints
 * its issuer once it listens. `PUT /accounts` sets the accounts, and `PUT /signed-in` the signed-in user, who consents
 * to everything.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair } from 'jose';
import { type ClientMetadata, Provider } from 'oidc-provider';

export interface OpenIdProvider {
  readonly issuer: string;
  /** Sets the accounts: claims by subject. */
  accounts(accounts: Readonly<Record<string, object>>): Promise<void>;
  /** Sets the user of the browser. */
  signIn(subject: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a provider with these clients. */
export const startOpenIdProvider = async (clients: readonly ClientMetadata[]): Promise<OpenIdProvider> => {
  const child: ChildProcess = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(clients)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (child.stdout === null) throw new Error('the provider has no output');
  const issuer = await new Promise<string>((found, failed) => {
    child.once('exit', (code) => failed(new Error(`the provider ended with ${code}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', found);
  });
  const put = async (path: string, body: unknown): Promise<void> => {
    const response = await fetch(`${issuer}${path}`, { method: 'PUT', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`the provider answered ${response.status}`);
  };
  return {
    issuer,
    accounts: (accounts) => put('/accounts', accounts),
    signIn: (subject) => put('/signed-in', subject),
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
};

const jsonOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

const serve = async (clients: ClientMetadata[]): Promise<void> => {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  let accounts: Record<string, Record<string, unknown>> = {};
  let signedIn = '';
  const provider = new Provider(issuer, {
    clients,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kty: 'RSA', kid: 'one', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['of a test'] },
    pkce: { required: () => true },
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  });
  const apiResponse = provider.callback();
  server.on('request', async (request, response) => {
    const { url = '', method } = request;
    if (method === 'PUT') {
      if (url === '/accounts') accounts = (await jsonOf(request)) as typeof accounts;
      else signedIn = (await jsonOf(request)) as string;
      response.end();
    } else if (url.startsWith('/interaction/')) {
      const { params } = await provider.interactionDetails(request, response);
      const grant = new provider.Grant({ accountId: signedIn, clientId: String(params['client_id']) });
      grant.addOIDCScope(String(params['scope']));
      const agreed = { login: { accountId: signedIn }, consent: { grantId: await grant.save() } };
      await provider.interactionFinished(request, response, agreed);
    } else {
      await apiResponse(request, response);
    }
  });
  process.stdin.once('end', () => process.exit()).resume();
  process.stdout.write(`${issuer}\n`);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(JSON.parse(process.argv[2] ?? '[]'));
