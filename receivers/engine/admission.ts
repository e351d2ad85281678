/**
 * Admission of requests by license key, telemetry signal, source address and limits, decided before the body is read.
 */
import { apiTokenFormat } from '../../schemas/resources/service-account.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { createErrorResponse, type ErrorResponse } from './error-responses.ts';
import type { Freshness } from './freshness.ts';
import type { RejectionReason } from './key-uses.ts';
import type { Caller, Keyring } from './keyring.ts';
import type { Limits } from './limits.ts';
import type { Rejections } from './rejections.ts';
import type { VisitorLimits } from './visitor-limits.ts';

export interface Credentials {
  /** `X-License-Key` header, or gRPC metadata with that name. */
  readonly licenseKey: string | undefined;
  /** `Authorization`. */
  readonly authorization: string | undefined;
  /** Source address, after trusted proxies. */
  readonly source: string;
}

/** A request of a browser. */
export interface BrowserCredentials {
  /** Key in the path */
  readonly key: string;
  /** `Origin` header, which browsers set */
  readonly origin: string | undefined;
  /** Address of the visitor, after trusted proxies */
  readonly source: string;
}

const missingKey = createErrorResponse(
  'unauthenticated',
  'a license key is missing: send it as X-License-Key, as Authorization: Bearer, or as the password of Authorization: Basic',
);
const unknownKey = createErrorResponse(
  'unauthenticated',
  'the license key is not known, or it was revoked or has expired',
);
const wrongTokenKind = createErrorResponse(
  'unauthenticated',
  'this is the token of a session or of a service account: telemetry is sent with a license key, which begins with oiq_lk_',
);
/** The bearer token of a session is a JWT, and that of a service account an API token. */
const rejectUnknownSecret = (secret: string): ErrorResponse =>
  secret.startsWith(apiTokenFormat.prefix) || /^eyJ[\w-]{1,4096}\./.test(secret) ? wrongTokenKind : unknownKey;
const unknownBrowserKey = createErrorResponse(
  'unauthenticated',
  'the browser key in the path is not known, or it was revoked or has expired',
);
const browserKeyElsewhere = createErrorResponse(
  'forbidden',
  'this key is for browsers: it works on paths below /rum/ only. Collectors and SDKs of servers need a server key',
);
const serverKeyInPath = createErrorResponse(
  'forbidden',
  'this key is for servers and must not be in a page: create a key of the kind "browser", and revoke this one if a page showed it',
);
const originForbidden = createErrorResponse(
  'forbidden',
  'pages of this origin may not use the browser key: add the origin to the key, or send the Origin header',
);
const organizationDisabled = createErrorResponse('forbidden', 'the organization is disabled or has no plan');
const addressForbidden = createErrorResponse('forbidden', 'the license key may not be used from this address');
export const signalForbidden: Readonly<Record<Signal, ErrorResponse>> = {
  logs: createErrorResponse('forbidden', 'logs are not enabled for this license key or plan'),
  metrics: createErrorResponse('forbidden', 'metrics are not enabled for this license key or plan'),
  traces: createErrorResponse('forbidden', 'traces are not enabled for this license key or plan'),
};

/** Returns the bearer token, or the password of Basic authentication, in which agents such as Promtail send the key. */
const parseSecret = (authorization = ''): string | undefined => {
  const space = authorization.indexOf(' ');
  const credentials = authorization.slice(space + 1).trim();
  if (space < 0 || credentials === '') return undefined;
  const scheme = authorization.slice(0, space).toLowerCase();
  if (scheme === 'bearer') return credentials;
  if (scheme !== 'basic') return undefined;
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
};

export type AdmitBrowser = (
  credentials: BrowserCredentials,
  signal: Signal,
) => Caller | ErrorResponse | Promise<Caller | ErrorResponse>;

/** Without a signal, any server key is admitted, and rejections do not count towards the usage. */
export type Admit = (
  credentials: Credentials,
  signal?: Signal,
) => Caller | ErrorResponse | Promise<Caller | ErrorResponse>;

/** Returns why the key of an open connection is no longer valid; undefined while it is. Does not count the request. */
export type FindRevocation = (credentials: Credentials) => ErrorResponse | undefined;

/** Returns whether a value is a rejection. */
export const isRejection = <Value extends object>(value: Value | ErrorResponse): value is ErrorResponse =>
  'kind' in value;

/** Returns why a known key may not send this telemetry from this address. */
const findDenial = (
  { enabled, allowedNetworks, signals }: Caller,
  source: string,
  signal: Signal | undefined,
): RejectionReason | undefined => {
  if (!enabled) return 'organization';
  if (!allowedNetworks.isEmpty && !allowedNetworks.contains(source)) return 'address';
  return signal === undefined || signals.has(signal) ? undefined : 'signal';
};

const toErrorResponse = (reason: RejectionReason, signal: Signal | undefined): ErrorResponse => {
  if (reason === 'signal' && signal !== undefined) return signalForbidden[signal];
  return reason === 'address' ? addressForbidden : organizationDisabled;
};

interface AdmissionServices {
  readonly keyring: Keyring;
  readonly freshness: Pick<Freshness, 'check'>;
  readonly limits: Limits;
  readonly visitorLimits: Pick<VisitorLimits, 'countRequest'>;
  readonly rejections: Pick<Rejections, 'count'>;
}

/**
 * Both functions return a synchronous result unless the shared counters are needed, and throw `UnavailableError` if the
 * keys in memory are too old. Rejections of a known key are counted in `rejections`.
 */
export const createAdmission = ({
  keyring,
  freshness,
  limits,
  visitorLimits,
  rejections,
}: AdmissionServices): {
  readonly admit: Admit;
  readonly admitBrowser: AdmitBrowser;
  readonly findRevocation: FindRevocation;
} => {
  const reject = (caller: Caller, signal: Signal | undefined, errorResponse: ErrorResponse): ErrorResponse => {
    if (signal !== undefined) rejections.count(caller, signal, errorResponse);
    return errorResponse;
  };
  const countFailure = (source: string, reason: ErrorResponse): ErrorResponse | Promise<ErrorResponse> => {
    const limitRejection = limits.countFailure(source);
    if (limitRejection instanceof Promise) return limitRejection.then((errorResponse) => errorResponse ?? reason);
    return limitRejection ?? reason;
  };
  const countRequest = (
    bucket: string,
    caller: Caller,
    signal: Signal | undefined,
  ): Caller | ErrorResponse | Promise<Caller | ErrorResponse> => {
    const limitRejection = limits.countRequest(bucket, caller);
    if (limitRejection instanceof Promise)
      return limitRejection.then((errorResponse) =>
        errorResponse === undefined ? caller : reject(caller, signal, errorResponse),
      );
    return limitRejection === undefined ? caller : reject(caller, signal, limitRejection);
  };

  const admit: Admit = ({ licenseKey, authorization, source }, signal) => {
    // An empty header counts as absent.
    const hasKeyHeader = Boolean(licenseKey);
    const secret = licenseKey || parseSecret(authorization);
    if (secret === undefined) return countFailure(source, missingKey);
    freshness.check();
    const caller = keyring.lookup(secret, source);
    if (caller === undefined) return countFailure(source, rejectUnknownSecret(secret));
    if (caller.browser !== undefined) {
      caller.use.recordRejected('', 'kind');
      return reject(caller, signal, browserKeyElsewhere);
    }
    const denialReason = findDenial(caller, source, signal);
    if (denialReason !== undefined) {
      caller.use.recordRejected(source, denialReason);
      return reject(caller, signal, toErrorResponse(denialReason, signal));
    }
    caller.use.recordUse(source);
    return countRequest(hasKeyHeader ? `key/${caller.keyId}` : `address/${source}`, caller, signal);
  };

  const admitBrowser: AdmitBrowser = ({ key, origin, source }, signal) => {
    freshness.check();
    const caller = keyring.lookup(key, source);
    if (caller === undefined) return countFailure(source, unknownBrowserKey);
    const { browser } = caller;
    if (browser === undefined) {
      caller.use.recordRejected('', 'kind');
      return reject(caller, signal, serverKeyInPath);
    }
    if (origin === undefined || !browser.isAllowedOrigin(origin)) {
      caller.use.recordRejected('', 'origin');
      return reject(caller, signal, originForbidden);
    }
    const denialReason = findDenial(caller, source, signal);
    if (denialReason !== undefined) {
      caller.use.recordRejected('', denialReason);
      return reject(caller, signal, toErrorResponse(denialReason, signal));
    }
    const visitorRejection = visitorLimits.countRequest(caller.keyId, source);
    if (visitorRejection !== undefined) return reject(caller, signal, visitorRejection);
    caller.use.recordUse();
    return countRequest(`key/${caller.keyId}`, caller, signal);
  };

  const findRevocation: FindRevocation = ({ licenseKey, authorization, source }) => {
    const caller = keyring.lookup(licenseKey || (parseSecret(authorization) ?? ''), source);
    if (caller === undefined) return unknownKey;
    const denialReason = findDenial(caller, source, undefined);
    return denialReason === undefined ? undefined : toErrorResponse(denialReason, undefined);
  };

  return { admit, admitBrowser, findRevocation };
};
