/** The only way of a browser to the network: what it asks for is looked up, held against the fence and dealt a turn, as for all checks. */
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failureOf } from '../failure.ts';
import { hostOf } from '../http-hop.ts';
import { PhaseClock } from '../phases.ts';
import type { Attempt } from '../runner.ts';
import { StepFailure } from '../runner.ts';

/** Bytes that a browser gets and sends in a run. */
export const maxTransferBytes = 50 * 1024 * 1024;
/** Places whose failures are remembered. */
const maxFailures = 200;

/** What belongs to a connection, and not to what is asked over it (RFC 9110, 7.6.1). */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
]);

const passedOn = (raw: readonly string[]): string[] =>
  raw.flatMap((name, index) =>
    index % 2 === 0 && !ofConnection.has(name.toLowerCase()) ? [name, raw[index + 1] ?? ''] : [],
  );

/** `host:port` of an address, as a browser asks for it. */
const placeOf = (url: URL): string => {
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:';
  return `${url.hostname}:${url.port === '' ? (isSecure ? 443 : 80) : url.port}`;
};

/** `CONNECT` names a place without a scheme. */
const urlOfPlace = (place: string): URL | undefined =>
  URL.canParse(`http://${place}`) ? new URL(`http://${place}`) : undefined;

/** A proxy of one run, on loopback. Only what it is asked for as a proxy is answered. */
export class FencedProxy {
  readonly #attempt: Pick<Attempt, 'reach' | 'signal'>;
  readonly #maxBytes: number;
  readonly #server: Server;
  readonly #open = new Set<Duplex>();
  readonly #failures = new Map<string, StepFailure>();
  #moved = 0;
  #port = 0;

  private constructor(attempt: Pick<Attempt, 'reach' | 'signal'>, maxBytes: number) {
    this.#attempt = attempt;
    this.#maxBytes = maxBytes;
    this.#server = createServer((request, answer) => void this.#pass(request, answer));
    this.#server.on('connect', (request: IncomingMessage, socket: Duplex) => void this.#tunnel(request, socket));
    this.#server.on('connection', (socket) => this.#track(socket));
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  static async open(attempt: Pick<Attempt, 'reach' | 'signal'>, maxBytes = maxTransferBytes): Promise<FencedProxy> {
    const proxy = new FencedProxy(attempt, maxBytes);
    await new Promise<void>((ready, failed) => {
      proxy.#server.once('error', failed);
      proxy.#server.listen(0, '127.0.0.1', ready);
    });
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Whether the run got and sent more than it may: nothing is passed on since then. */
  get isFull(): boolean {
    return this.#moved > this.#maxBytes;
  }

  /** Why nothing came of the last connection to where an address leads; undefined where there was one. */
  failureOf(url: string): StepFailure | undefined {
    return URL.canParse(url) ? this.#failures.get(placeOf(new URL(url))) : undefined;
  }

  /** Ends all connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #track(socket: Duplex): void {
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
  }

  #count(chunk: Buffer): void {
    this.#moved += chunk.length;
    if (this.isFull) for (const socket of this.#open) socket.destroy();
  }

  #failed(place: string, thrown: unknown): void {
    const failure = failureOf(thrown, { host: place, phase: 'connect', signal: this.#attempt.signal });
    if (this.#failures.size < maxFailures) this.#failures.set(place, failure);
  }

  /** Connections of all kinds begin here. Rejects where none may be, or can be made. */
  async #connected(url: URL, place: string): Promise<Socket> {
    if (this.isFull) throw new StepFailure('the page got and sent too much');
    const host = hostOf(url);
    // How long it takes is seen by the browser.
    const { lookup } = await this.#attempt.reach(host, new PhaseClock('lookup'));
    const socket = connect({ host, port: Number(place.slice(place.lastIndexOf(':') + 1)), lookup });
    this.#track(socket);
    await new Promise<void>((connected, failed) => {
      socket.once('connect', connected);
      socket.once('error', failed);
      socket.once('close', () => failed(new Error('it closed the connection')));
    });
    this.#failures.delete(place);
    socket.on('data', (chunk) => this.#count(chunk));
    return socket;
  }

  /** For TLS and WebSockets, in which nobody looks. */
  async #tunnel({ url: requestUrl = '' }: IncomingMessage, client: Duplex): Promise<void> {
    this.#track(client);
    const url = urlOfPlace(requestUrl);
    if (url === undefined) return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const place = /:\d+$/.test(requestUrl) ? requestUrl.toLowerCase() : placeOf(url);
    try {
      const target = await this.#connected(url, place);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.on('data', (chunk: Buffer) => this.#count(chunk));
      client.pipe(target).pipe(client);
      client.once('close', () => target.destroy());
      target.once('close', () => client.destroy());
    } catch (error) {
      this.#failed(place, error);
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    }
  }

  /** A request without TLS, which names its whole address. One that does not is none for a proxy. */
  async #pass(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { url: requestUrl = '', method = 'GET', rawHeaders } = request;
    const url = URL.canParse(requestUrl) ? new URL(requestUrl) : undefined;
    if (url?.protocol !== 'http:') return void answer.writeHead(400).end();
    const place = placeOf(url);
    try {
      const socket = await this.#connected(url, place);
      const passed = requestHttp(url, { method, headers: passedOn(rawHeaders), createConnection: () => socket });
      answer.once('close', () => socket.destroy());
      request.on('data', (chunk: Buffer) => this.#count(chunk));
      request.pipe(passed);
      const response = await new Promise<IncomingMessage>((answered, failed) => {
        passed.once('response', answered);
        passed.once('error', failed);
      });
      answer.writeHead(response.statusCode ?? 502, response.statusMessage, passedOn(response.rawHeaders));
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    } catch (error) {
      this.#failed(place, error);
      // Without an answer, so that it is none of the target.
      request.socket.destroy();
    }
  }
}
