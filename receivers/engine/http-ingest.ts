/** Accepts telemetry in HTTP requests. Protocols differ only in the functions of `HttpProtocol`. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { BodyFormat } from './body-format.ts';
import { parseEncoding } from './dead-letters.ts';
import { createErrorResponse, type ErrorResponse, errorKinds } from './error-responses.ts';
import { Exchange, type Message, type Transport } from './exchange.ts';
import type { Accepted } from './ingestion.ts';
import type { BodyShape } from './prepare.ts';
import type { Engine } from './receiver.ts';

/** A response to send. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer | undefined;
}

/** The varying parts of a protocol over HTTP. */
export interface HttpProtocol {
  readonly receiver: string;
  readonly maxBodyBytes: number;
  /** Returns the body's format and encoding by its headers, or a rejection. */
  shape(signal: Signal, headers: IncomingHttpHeaders): BodyShape | ErrorResponse;
  toSuccessResponse(headers: IncomingHttpHeaders, shape: BodyShape, accepted: Accepted): HttpResponse;
  toErrorResponse(headers: IncomingHttpHeaders, errorResponse: ErrorResponse): HttpResponse;
}

/** Returns the shape of a body in a format, with the encoding of its headers, or a rejection. */
export const shapeBody = (
  signal: Signal,
  format: BodyFormat,
  headers: IncomingHttpHeaders,
): BodyShape | ErrorResponse => {
  const encoding = parseEncoding(headers['content-encoding'] ?? '');
  return encoding === undefined || encoding === 'snappy'
    ? createErrorResponse('unsupported-encoding', 'Content-Encoding must be gzip, deflate, zstd or identity')
    : { signal, format, encoding };
};

interface HttpRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly browser: Transport['browser'];
}

const ignoreError = (): void => undefined;

class HttpTransport implements Transport {
  readonly #engine: Engine;
  readonly #protocol: HttpProtocol;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly framingBytes = 0;
  readonly browser: Transport['browser'];

  constructor(engine: Engine, protocol: HttpProtocol, { request, response, browser }: HttpRequest) {
    this.#engine = engine;
    this.#protocol = protocol;
    this.#request = request;
    this.#response = response;
    this.browser = browser;
  }

  get receiver(): string {
    return this.#protocol.receiver;
  }

  get maxBodyBytes(): number {
    return this.#protocol.maxBodyBytes;
  }

  get peer(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === 'object' ? value[0] : value;
  }

  shape(signal: Signal): BodyShape | ErrorResponse {
    return this.#protocol.shape(signal, this.#request.headers);
  }

  getDeclaredBytes(): number {
    return Number(this.#request.headers['content-length'] ?? 0);
  }

  /** Bytes after a response are read and dropped, so that the sender can finish and read it; a timeout limits this. */
  read(exchange: Exchange): void {
    const request = this.#request;
    if (request.headers.expect !== undefined) this.#response.writeContinue();
    request.on('data', (chunk: Buffer) => exchange.addData(chunk));
    request.on('end', () => exchange.completeBody());
    // The response's `close` event reports a broken connection; without a listener the error would end the process.
    request.on('error', ignoreError);
  }

  decodeFrame(framed: Message): Message {
    return framed;
  }

  respondWithSuccess(shape: BodyShape, accepted: Accepted): void {
    this.#respond(this.#protocol.toSuccessResponse(this.#request.headers, shape, accepted));
  }

  respondWithError(errorResponse: ErrorResponse): void {
    this.#respond(this.#protocol.toErrorResponse(this.#request.headers, errorResponse));
  }

  #respond({ status, headers, body }: HttpResponse): void {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return;
    if (this.#engine.inFlight.isDraining) response.shouldKeepAlive = false;
    response.writeHead(status, headers);
    response.end(body);
  }
}

/** Serves requests of one protocol. Headers that were already set (CORS) are part of every response. */
export const createHttpIngest =
  (engine: Engine, protocol: HttpProtocol) =>
  (request: IncomingMessage, response: ServerResponse, signal: Signal, browser?: Transport['browser']): void => {
    const exchange = new Exchange(engine, new HttpTransport(engine, protocol, { request, response, browser }), signal);
    response.on('close', () => exchange.handleClose());
    exchange.start();
  };

/** Returns the status and headers of a rejection in every protocol. */
export const toRejectionResponse = (
  { kind, retryAfterSeconds }: ErrorResponse,
  contentType: string,
  body: string | Buffer,
): HttpResponse => {
  const headers: OutgoingHttpHeaders = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  if (kind === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  return { status: errorKinds[kind].http, headers, body };
};

/** Returns a rejection as plain text. */
export const toTextResponse = (errorResponse: ErrorResponse): HttpResponse =>
  toRejectionResponse(errorResponse, 'text/plain; charset=utf-8', `${errorResponse.message}\n`);
