import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client';
import { type Outbound, OutboundError, type OutboundRequest } from '../../../runtime/outbound.ts';
import { ApiError } from '../../errors.ts';
import { isLoopback } from '../cookies.ts';
import { createUnauthenticatedError } from '../session.ts';
import type { Flow } from './flow.ts';

/** A client of a provider */
export interface Client {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

/** Claims about a person, from the ID token and from userinfo. */
export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** Returns why an issuer's address is unusable; undefined if it is usable. */
export const findIssuerProblem = (issuer: string): string | undefined => {
  if (!URL.canParse(issuer)) return 'is not an address';
  const { protocol, host, search, hash, username } = new URL(issuer);
  if (search !== '' || hash !== '' || username !== '') return 'must not contain a query, a fragment or a user';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(host))) return undefined;
  return 'must begin with https://';
};

/** Returns the client authentication: it sends the secret in the header, unless the provider only supports the body. */
const createClientAuth = (secret: string): ClientAuth => {
  const inHeader = ClientSecretBasic(secret);
  const inBody = ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? inHeader : inBody)(server, ...rest);
  };
};

const maxAddressLength = 2048;
const requiredEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** Throws unless every endpoint is a URL that is allowed for an issuer: browsers and secrets are sent to these URLs. */
const requireValidEndpoints = (configuration: Configuration): void => {
  const server = configuration.serverMetadata();
  const endpoints =
    server.userinfo_endpoint === undefined ? requiredEndpoints : [...requiredEndpoints, 'userinfo_endpoint'];
  for (const name of endpoints) {
    const value: unknown = server[name];
    const isText = typeof value === 'string' && value.length <= maxAddressLength;
    // An endpoint may contain a query.
    const problem = isText ? findIssuerProblem(value.replace(/\?[^#]*/, '')) : 'is not an address';
    if (problem !== undefined) throw new Error(`its ${name} ${problem}`);
  }
};

/** Reads the provider's metadata, which must be of this issuer. Rejects with the problem otherwise. */
export const discoverProvider = async (
  { issuer, clientId, clientSecret }: Client,
  outbound: Outbound,
): Promise<Configuration> => {
  const isPlainHttp = new URL(issuer).protocol === 'http:';
  const configuration = await discovery(
    new URL(issuer),
    clientId,
    {},
    clientSecret === undefined ? None() : createClientAuth(clientSecret),
    {
      [customFetch]: (url, { method, headers, body }) =>
        outbound.fetch(url, { method, headers, body: toTextBody(body) } satisfies OutboundRequest),
      // Signatures are verified even though the token is directly from the provider; this also rejects "none".
      execute: [enableNonRepudiationChecks, ...(isPlainHttp ? [allowInsecureRequests] : [])],
    },
  );
  requireValidEndpoints(configuration);
  return configuration;
};

const toTextBody = (body: unknown): string | null => {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('a body of this type is not supported');
};

/** Like `discoverProvider`, for a sign-in: throws `UNAVAILABLE` when the provider does not respond. */
export const discoverOrUnavailable = async (client: Client, outbound: Outbound): Promise<Configuration> => {
  try {
    return await discoverProvider(client, outbound);
  } catch (cause) {
    throw new ApiError('UNAVAILABLE', `the identity provider cannot be used now: ${describeFailure(cause)}`, { cause });
  }
};

/** The readable reason of a provider's failure, without data of the provider, which may contain tokens. */
export const describeFailure = (error: unknown): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundError) return cause.message;
  return error instanceof Error ? error.message : 'its response does not conform to OpenID Connect';
};

/** Returns the address to which the browser is redirected. */
export const createAuthorizationUrl = async (
  configuration: Configuration,
  { state, nonce, verifier }: Pick<Flow, 'state' | 'nonce' | 'verifier'>,
  { redirectUri, scopes, email }: { redirectUri: string; scopes: readonly string[]; email: string | undefined },
): Promise<string> =>
  buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(email === undefined ? {} : { login_hint: email }),
  }).href;

/**
 * Exchanges the browser's authorization response for claims about the person. Throws `UNAUTHENTICATED` if the response
 * is not the provider's response to this request.
 */
export const exchangeCode = async (
  configuration: Configuration,
  { state, nonce, verifier }: Flow,
  { callbackUrl, requiredClaims }: { readonly callbackUrl: URL; readonly requiredClaims: readonly string[] },
): Promise<Claims> => {
  try {
    const tokens = await authorizationCodeGrant(configuration, callbackUrl, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('there is no ID token');
    const hasUserinfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    if (!hasUserinfo || requiredClaims.every((name) => claims[name] !== undefined)) return claims;
    // The client checks that the subject is the same.
    const userinfo = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return { ...userinfo, ...claims };
  } catch (cause) {
    for (let error: unknown = cause; error instanceof Error; error = error.cause)
      if (error instanceof OutboundError)
        throw new ApiError('UNAVAILABLE', `the identity provider cannot be used now: ${error.message}`, {
          cause: error,
        });
    const detail = cause instanceof AuthorizationResponseError ? `: it returned ${cause.error}` : '';
    throw createUnauthenticatedError(
      `the identity provider’s response cannot be used to sign in${detail}; start again`,
    );
  }
};
