/** Requests to addresses that users choose: identity providers and notification channels. */
import { lookup as lookUp } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { createEgressPolicy, type EgressPolicy } from './egress-policy.ts';

/** A request was not sent or its response was not accepted. The message is for people. */
export class OutboundError extends Error {
  /** Whether the egress policy forbids the address, so that a retry fails too. */
  readonly isRefusal: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isRefusal?: boolean } = {}) {
    super(message, options);
    this.name = 'OutboundError';
    this.isRefusal = options.isRefusal ?? false;
  }
}

export interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | null;
  /** Timeout in milliseconds, instead of the default. */
  readonly timeoutMs?: number;
  /** Maximum size of the response, instead of the default. */
  readonly maxBytes?: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

/**
 * Outgoing requests. They never reach an address in a private network. DNS rebinding does not bypass this: the socket
 * connects to the address that was checked.
 */
export interface Outbound {
  /**
   * Sends one request. Does not follow redirects, and limits the duration and the response size. Rejects with
   * `OutboundError`.
   */
  fetch(url: string, request?: OutboundRequest): Promise<Response>;
  /** Returns the TXT records of a name; `undefined` if the name server does not respond. */
  resolveTxt(name: string): Promise<readonly string[] | undefined>;
}

export interface OutboundOptions {
  /** Private networks (CIDR) that may be reached. */
  readonly allowedNetworks?: readonly string[];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Resolves names. Default: the system resolver. */
  readonly resolve?: typeof lookUp;
  /** Name servers for TXT records, as `address:port`. Default: those of the system. */
  readonly nameServers?: readonly string[];
}

export const openOutbound = ({
  allowedNetworks = [],
  timeoutMs = 10_000,
  maxBytes = 1024 * 1024,
  resolve = lookUp,
  nameServers,
}: OutboundOptions = {}): Outbound => {
  const egressPolicy = createEgressPolicy({ allowedNetworks, setting: 'OIQ_OUTBOUND_NETWORKS', resolve });
  const lookup: LookupFunction = (hostname, options, callback) =>
    egressPolicy.lookup(hostname, options, (error, address, family) =>
      error === null ? callback(null, address, family) : callback(createUnknownNameError(hostname), []),
    );
  const resolver = new Resolver({ timeout: Math.min(3000, timeoutMs), tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return {
    async fetch(url, { method = 'GET', headers = {}, body, ...overrides } = {}) {
      const target = parseTarget(url, egressPolicy);
      const timeout = AbortSignal.timeout(overrides.timeoutMs ?? timeoutMs);
      const signal = overrides.signal === undefined ? timeout : AbortSignal.any([timeout, overrides.signal]);
      const response = await new Promise<IncomingMessage>((onResponse, onError) => {
        const sendRequest = target.protocol === 'https:' ? requestHttps : requestHttp;
        // A new connection, because a reused one may lead to an address that was checked for another request.
        const request = sendRequest(target, { method, headers, lookup, agent: false, signal }, onResponse);
        request.once('error', (error) => onError(toOutboundError(error, target, signal)));
        request.end(body ?? undefined);
      });
      return toResponse(
        response,
        await readBody(response, { maxBytes: overrides.maxBytes ?? maxBytes, target, signal }),
      );
    },
    async resolveTxt(name) {
      try {
        return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : undefined;
      }
    },
  };
};

/** Unknown names give the same error, so that it does not reveal the names of a private network. */
const createUnknownNameError = (host: string): OutboundError =>
  new OutboundError(
    `${host} is not known, or is in a private network that OIQ_OUTBOUND_NETWORKS does not allow: check the name and its DNS record`,
  );

const parseTarget = (url: string, egressPolicy: EgressPolicy): URL => {
  const target = new URL(url);
  if (target.protocol !== 'https:' && target.protocol !== 'http:')
    throw new OutboundError(`${target.protocol} addresses are not allowed`, { isRefusal: true });
  if (target.username !== '' || target.password !== '')
    throw new OutboundError('the address must not contain a user name', { isRefusal: true });
  try {
    egressPolicy.requireAllowed(target.hostname.replace(/^\[|\]$/g, ''));
  } catch (error) {
    throw new OutboundError((error as Error).message, { isRefusal: true });
  }
  return target;
};

const toOutboundError = (error: Error, { host }: URL, signal: AbortSignal): OutboundError => {
  if (error instanceof OutboundError) return error;
  const message = signal.aborted ? `${host} took too long to respond` : `${host} cannot be reached: ${error.message}`;
  return new OutboundError(message, { cause: error });
};

/** Reads the complete response as chunks. Copying 60 MB would block all other work. */
const readBody = async (
  response: IncomingMessage,
  { maxBytes, target, signal }: { readonly maxBytes: number; readonly target: URL; readonly signal: AbortSignal },
): Promise<readonly Buffer[]> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new OutboundError(`${target.host} answered with more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    response.destroy();
    throw toOutboundError(error as Error, target, signal);
  }
  return chunks;
};

const bodylessStatuses = new Set([204, 205, 304]);

const streamChunks = (body: readonly Buffer[]): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const pieces = body.values();
  return new ReadableStream({
    pull(controller) {
      const { value } = pieces.next();
      if (value === undefined) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
};

const toResponse = ({ statusCode = 502, headers }: IncomingMessage, body: readonly Buffer[]): Response => {
  const responseHeaders = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of [value ?? []].flat()) responseHeaders.append(name, one);
  return new Response(bodylessStatuses.has(statusCode) ? null : streamChunks(body), {
    status: statusCode,
    headers: responseHeaders,
  });
};
