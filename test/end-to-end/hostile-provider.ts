/** An OpenID Connect provider whose responses a test can modify. It approves every sign-in at once. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** Modifications of the provider's responses. */
export interface Modifications {
  /** Fields of the discovery document. */
  readonly discovery?: object;
  /** Claims of the ID token; `undefined` omits one. */
  readonly claims?: object;
  /** Signs the ID token in place of the provider. */
  readonly idToken?: (claims: Readonly<Record<string, unknown>>) => string | Promise<string>;
  /** Parameters of the redirect back to the API. */
  readonly callback?: Readonly<Record<string, string>>;
}

export interface HostileProvider {
  readonly issuer: string;
  readonly publicJwk: JWK;
  modify(modifications: Modifications): void;
  /** Requests that reached the token endpoint. */
  exchanges(): number;
  close(): void;
}

const send = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
};

export const startHostileProvider = async (clientId: string): Promise<HostileProvider> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const publicJwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const header = { alg: 'RS256', kid: 'one' };
  let modifications: Modifications = {};
  let exchanges = 0;
  const nonces = new Map<string, string>();

  const idTokenOf = async (issuer: string, code: string): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: clientId,
      sub: 'mallory',
      iat: now,
      exp: now + 300,
      nonce: nonces.get(code),
      email: 'mallory@corp.example',
      email_verified: true,
      ...modifications.claims,
    };
    return modifications.idToken?.(claims) ?? new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    if (url.pathname === '/.well-known/openid-configuration')
      return send(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
        ...modifications.discovery,
      });
    if (url.pathname === '/jwks') return send(response, { keys: [publicJwk] });
    if (url.pathname === '/authorize') {
      const code = `code-${nonces.size}`;
      nonces.set(code, url.searchParams.get('nonce') ?? '');
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      const apiResponse = { code, state: url.searchParams.get('state') ?? '', ...modifications.callback };
      for (const [name, value] of Object.entries(apiResponse)) back.searchParams.set(name, value);
      return response.writeHead(303, { location: back.href }).end();
    }
    exchanges++;
    const code = new URLSearchParams(await textOf(request)).get('code') ?? '';
    send(response, { access_token: 'a', token_type: 'Bearer', id_token: await idTokenOf(issuer, code) });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    publicJwk,
    modify(next) {
      modifications = next;
    },
    exchanges: () => exchanges,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
