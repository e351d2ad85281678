/** One HTTP request with its response and the times of its phases. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttp, validateHeaderValue } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { CutBody, Observation } from '../subjects/synthetics/assertions.ts';
import { truncate } from '../subjects/synthetics/cut.ts';
import { readCertificate } from './certificate.ts';
import type { PhaseClock } from './phases.ts';
import { removeBrackets } from './reach.ts';
import { type Content, decodeText, findCharset, readContent } from './response-content.ts';
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

export interface HopResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Decoded content */
  readonly body: Buffer;
  readonly charset: string;
  /** Set if the body is only the beginning of the content */
  readonly cut: CutBody | undefined;
  /** Bytes of the decoded content; if it is cut and its length unknown, those of the beginning */
  readonly size: number;
  readonly protocol: string;
  readonly certificate: Observation['certificate'];
}

export const getUrlHost = ({ hostname }: URL): string => removeBrackets(hostname);

/** Parses the address of a request. Throws a `StepFailure` for an invalid one. */
export const parseHttpUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new StepFailure(`${truncate(text, 200)} is not an http or https address`);
  url.username = '';
  url.password = '';
  return url;
};

/**
 * Throws a `StepFailure` if a request would take a secret to a host to which it is not bound, in whatever part and
 * encoding. `values` are the extracted values that the request contains.
 */
export const requireBoundSecrets = (
  { url, headers, body }: Pick<HopRequest, 'url' | 'headers' | 'body'>,
  values: readonly string[],
  { boundSecrets }: Pick<Attempt, 'boundSecrets'>,
): void => {
  const rendered = [url.href, ...Object.values(headers), body ?? ''];
  if (boundSecrets.isUnbound({ rendered, values }, getUrlHost(url)))
    throw new StepFailure(`a secret of the check is not bound to ${url.host}`);
};

/** Returns the beginning of a failed response, cut at a complete character, as it is stored. */
export const toBodyExcerpt = ({ body, charset }: Pick<HopResponse, 'body' | 'charset'>): string =>
  decodeText(body.subarray(0, maxExcerptBytes), charset, { isTruncated: true });

/** Returns headers in the form that Node.js sends: without spaces around, and beyond ISO 8859-1 as bytes of UTF-8. */
const toSentHeaders = (headers: HopRequest['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, text]) => {
      const value = text.trim();
      const sent = /[\u0100-\uffff]/.test(value) ? Buffer.from(value).toString('latin1') : value;
      try {
        validateHeaderValue(name, sent);
      } catch (error) {
        throw new StepFailure(`the header ${name} contains a line break or another control character`, {
          cause: error,
        });
      }
      return [name, sent];
    }),
  );

/** Length of a content that was not encoded; undefined if the response does not declare it */
const declaredLength = ({ headers }: IncomingMessage): number | undefined => {
  const length = headers['content-length'];
  return length === undefined || headers['content-encoding'] !== undefined ? undefined : Number(length);
};

const toSize = (
  { bytes, isTruncated }: Content,
  declaredBytes: number | undefined,
): Pick<HopResponse, 'cut' | 'size'> => ({
  cut: isTruncated ? { readBytes: bytes.length, isSizeKnown: declaredBytes !== undefined } : undefined,
  size: declaredBytes ?? bytes.length,
});

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

/** Sends one request over a new connection. Redirects count as responses. Rejects with the failure. */
export const sendOnce = async (
  { url, method, headers, body, verifyCertificate, clientCertificate }: HopRequest,
  { resolveAddress, clock, signal }: Pick<Attempt, 'resolveAddress' | 'signal'> & { readonly clock: PhaseClock },
): Promise<HopResponse> => {
  const isSecure = url.protocol === 'https:';
  const { lookup } = await resolveAddress(getUrlHost(url), clock);
  clock.enter('connect');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const createRequest = isSecure ? requestHttps : requestHttp;
    const clientCredentials =
      clientCertificate === null ? {} : { cert: clientCertificate.certificate, key: clientCertificate.key };
    const tls = isSecure ? { rejectUnauthorized: verifyCertificate, ...clientCredentials } : {};
    const options = { method, headers: toSentHeaders(headers), lookup, agent: false, signal, ...tls };
    const request = createRequest(url, options, resolve);
    reportPhases(request, clock, isSecure);
    request.once('error', reject);
    request.end(body ?? undefined);
  });
  clock.enter('receive');
  const certificate =
    response.socket instanceof TLSSocket ? readCertificate(response.socket, getUrlHost(url)) : undefined;
  const content = await readContent(response, response.headers['content-encoding'], maxResponseBytes);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(Object.entries(response.headersDistinct).map(([name, values]) => [name, values ?? []])),
    body: content.bytes,
    charset: findCharset(content.bytes, response.headers['content-type']),
    ...toSize(content, content.isTruncated ? declaredLength(response) : undefined),
    protocol: `HTTP/${response.httpVersion}`,
    certificate,
  };
};
