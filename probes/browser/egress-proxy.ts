/**
 * The only network access of a browser: names are resolved, checked against the egress policy and rate limited, as for
 * all checks.
 */
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { toStepFailure } from '../failure.ts';
import { getUrlHost } from '../http-hop.ts';
import { PhaseClock } from '../phases.ts';
import type { Attempt } from '../runner.ts';
import { StepFailure } from '../runner.ts';

/** Maximum bytes that a browser receives and sends in a run */
export const maxTransferBytes = 50 * 1024 * 1024;
/** Maximum number of remembered failures by host */
const maxFailures = 200;

/** Headers of the connection, and not of the request (RFC 9110, 7.6.1) */
const hopByHopHeaders = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
]);

const removeHopByHopHeaders = (raw: readonly string[]): string[] =>
  raw.flatMap((name, index) =>
    index % 2 === 0 && !hopByHopHeaders.has(name.toLowerCase()) ? [name, raw[index + 1] ?? ''] : [],
  );

/** Hosts of Chromium's own services that use the connection of pages: it asks there what the fields of a form mean. */
const browserServiceHosts: ReadonlySet<string> = new Set(['content-autofill.googleapis.com']);

/** `host:port` of an address, in the browser's form. */
const getHostPort = (url: URL): string => {
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:';
  return `${url.hostname}:${url.port === '' ? (isSecure ? 443 : 80) : url.port}`;
};

/** `CONNECT` contains a host and port without a scheme. */
const parseConnectTarget = (hostPort: string): URL | undefined =>
  URL.canParse(`http://${hostPort}`) ? new URL(`http://${hostPort}`) : undefined;

/** A proxy for one run, on loopback. It only answers proxy requests. */
export class EgressProxy {
  readonly #attempt: Pick<Attempt, 'resolveAddress' | 'signal'>;
  readonly #maxBytes: number;
  readonly #server: Server;
  readonly #openSockets = new Set<Duplex>();
  readonly #failures = new Map<string, StepFailure>();
  #transferredBytes = 0;
  #port = 0;

  private constructor(attempt: Pick<Attempt, 'resolveAddress' | 'signal'>, maxBytes: number) {
    this.#attempt = attempt;
    this.#maxBytes = maxBytes;
    this.#server = createServer((request, answer) => void this.#forwardRequest(request, answer));
    this.#server.on('connect', (request: IncomingMessage, socket: Duplex) => void this.#tunnel(request, socket));
    this.#server.on('connection', (socket) => this.#track(socket));
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  static async open(
    attempt: Pick<Attempt, 'resolveAddress' | 'signal'>,
    maxBytes = maxTransferBytes,
  ): Promise<EgressProxy> {
    const proxy = new EgressProxy(attempt, maxBytes);
    await new Promise<void>((resolve, failed) => {
      proxy.#server.once('error', failed);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Whether the run exceeded its transfer limit: nothing is forwarded after that. */
  get isFull(): boolean {
    return this.#transferredBytes > this.#maxBytes;
  }

  /** Why the last connection to the host of an address failed; undefined if it succeeded. */
  getFailure(url: string): StepFailure | undefined {
    return URL.canParse(url) ? this.#failures.get(getHostPort(new URL(url))) : undefined;
  }

  /** Closes all connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#openSockets) socket.destroy();
  }

  #track(socket: Duplex): void {
    this.#openSockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#openSockets.delete(socket));
  }

  #countBytes(chunk: Buffer): void {
    this.#transferredBytes += chunk.length;
    if (this.isFull) for (const socket of this.#openSockets) socket.destroy();
  }

  #recordFailure(hostPort: string, error: unknown): void {
    const failure = toStepFailure(error, { host: hostPort, phase: 'connect', signal: this.#attempt.signal });
    if (this.#failures.size < maxFailures) this.#failures.set(hostPort, failure);
  }

  /** Opens every kind of connection. Rejects if it is not allowed, or fails. */
  async #connect(url: URL, hostPort: string): Promise<Socket> {
    if (this.isFull) throw new StepFailure('the page transferred too much data');
    const host = getUrlHost(url);
    if (browserServiceHosts.has(host)) throw new StepFailure(`${host} is a service of the browser, not of the page`);
    // The browser measures the duration.
    const { lookup } = await this.#attempt.resolveAddress(host, new PhaseClock('lookup'));
    const socket = connect({ host, port: Number(hostPort.slice(hostPort.lastIndexOf(':') + 1)), lookup });
    this.#track(socket);
    await new Promise<void>((connected, failed) => {
      socket.once('connect', connected);
      socket.once('error', failed);
      socket.once('close', () => failed(new Error('it closed the connection')));
    });
    this.#failures.delete(hostPort);
    socket.on('data', (chunk) => this.#countBytes(chunk));
    return socket;
  }

  /** For TLS and WebSockets, which are forwarded unread. */
  async #tunnel({ url: requestUrl = '' }: IncomingMessage, client: Duplex): Promise<void> {
    this.#track(client);
    const url = parseConnectTarget(requestUrl);
    if (url === undefined) return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const hostPort = /:\d+$/.test(requestUrl) ? requestUrl.toLowerCase() : getHostPort(url);
    try {
      const target = await this.#connect(url, hostPort);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.on('data', (chunk: Buffer) => this.#countBytes(chunk));
      client.pipe(target).pipe(client);
      client.once('close', () => target.destroy());
      target.once('close', () => client.destroy());
    } catch (error) {
      this.#recordFailure(hostPort, error);
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    }
  }

  /** A request without TLS, which contains the complete address. Other requests are not for a proxy. */
  async #forwardRequest(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { url: requestUrl = '', method = 'GET', rawHeaders } = request;
    const url = URL.canParse(requestUrl) ? new URL(requestUrl) : undefined;
    if (url?.protocol !== 'http:') return void answer.writeHead(400).end();
    const hostPort = getHostPort(url);
    try {
      const socket = await this.#connect(url, hostPort);
      const forwardedRequest = requestHttp(url, {
        method,
        headers: removeHopByHopHeaders(rawHeaders),
        createConnection: () => socket,
      });
      answer.once('close', () => socket.destroy());
      request.on('data', (chunk: Buffer) => this.#countBytes(chunk));
      request.pipe(forwardedRequest);
      const response = await new Promise<IncomingMessage>((answered, failed) => {
        forwardedRequest.once('response', answered);
        forwardedRequest.once('error', failed);
      });
      answer.writeHead(response.statusCode ?? 502, response.statusMessage, removeHopByHopHeaders(response.rawHeaders));
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    } catch (error) {
      this.#recordFailure(hostPort, error);
      // Without a response, because a response would seem to be from the target.
      request.socket.destroy();
    }
  }
}
