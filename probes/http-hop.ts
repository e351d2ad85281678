/** One HTTP request with its answer and the times of its phases. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Observation } from '../subjects/synthetics/assertions.ts';
import { truncate } from '../subjects/synthetics/cut.ts';
import { readCertificate } from './certificate.ts';
import type { PhaseClock } from './phases.ts';
import { bareHost } from './reach.ts';
import { type Attempt, maxExcerptBytes, maxResponseBytes, StepFailure } from './runner.ts';

export interface HopRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly verifyCertificate: boolean;
  /** PEM; null for none */
  readonly clientCertificate: { readonly certificate: string; readonly key: string } | null;
}

export interface HopAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
  readonly protocol: string;
  readonly certificate: Observation['certificate'];
}

export const urlHost = ({ hostname }: URL): string => bareHost(hostname);

/** Parses the address of a request. Throws a `StepFailure` for an invalid one. */
export const parseHttpUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new StepFailure(`${truncate(text, 200)} is not an http or https address`);
  url.username = '';
  url.password = '';
  return url;
};

const readBody = async (answer: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the connection.
    if (size >= maxResponseBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxResponseBytes);
};

/** Returns the beginning of a failed answer, cut at a complete character, as it is stored. */
export const toBodyExcerpt = (body: Buffer): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(body.subarray(0, maxExcerptBytes), { stream: true });

/** Reports the phases of a request to the clock, from the connection on. */
export const reportPhases = (request: ClientRequest, clock: PhaseClock, isSecure: boolean): void => {
  request.once('socket', (socket) => {
    socket.once('connect', () => clock.enter(isSecure ? 'tls' : 'send'));
    socket.once('secureConnect', () => clock.enter('send'));
  });
  // The kernel buffers small bodies before the connection is established, so they count as sent with it.
  request.once('finish', () => {
    if (clock.current === 'send') clock.enter('wait');
  });
};

/** Sends one request over a new connection. Redirects count as answers. Rejects with the failure. */
export const sendOnce = async (
  { url, method, headers, body, verifyCertificate, clientCertificate }: HopRequest,
  { resolveAddress, clock, signal }: Pick<Attempt, 'resolveAddress' | 'signal'> & { readonly clock: PhaseClock },
): Promise<HopAnswer> => {
  const isSecure = url.protocol === 'https:';
  const { lookup } = await resolveAddress(urlHost(url), clock);
  clock.enter('connect');
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const createRequest = isSecure ? requestHttps : requestHttp;
    const clientCredentials =
      clientCertificate === null ? {} : { cert: clientCertificate.certificate, key: clientCertificate.key };
    const tls = isSecure ? { rejectUnauthorized: verifyCertificate, ...clientCredentials } : {};
    const request = createRequest(url, { method, headers, lookup, agent: false, signal, ...tls }, resolve);
    reportPhases(request, clock, isSecure);
    request.once('error', reject);
    request.end(body ?? undefined);
  });
  clock.enter('receive');
  const certificate = answer.socket instanceof TLSSocket ? readCertificate(answer.socket, urlHost(url)) : undefined;
  const content = await readBody(answer);
  return {
    status: answer.statusCode ?? 0,
    headers: Object.fromEntries(Object.entries(answer.headersDistinct).map(([name, values]) => [name, values ?? []])),
    body: content,
    protocol: `HTTP/${answer.httpVersion}`,
    certificate,
  };
};
