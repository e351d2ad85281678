/** Telemetry in an HTTP request: credentials, admission, the body under a cap, the answer. Protocols differ in a few functions. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Signal } from '../../schemas/topics.ts';
import { isRefusal } from './admission.ts';
import type { Answer, HttpCall } from './http-call.ts';
import type { Accepted } from './intake.ts';
import type { Caller } from './keyring.ts';
import type { Shape } from './prepare.ts';
import type { Origin } from './publisher.ts';
import type { Engine } from './receiver.ts';
import { type Refusal, refusal, refusalKinds, refusalOf } from './refusal.ts';

/** What a protocol over HTTP says for itself. */
export interface HttpProtocol {
  readonly receiver: string;
  readonly maxBodyBytes: number;
  /** What the headers say about the body, or why it is not for us. */
  shape(signal: Signal, headers: IncomingHttpHeaders): Shape | Refusal;
  accepted(headers: IncomingHttpHeaders, shape: Shape, accepted: Accepted): Answer;
  refused(headers: IncomingHttpHeaders, refused: Refusal): Answer;
}

const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
export const traceparentOf = (header: string | undefined): string =>
  header !== undefined && header.length === 55 && traceparentForm.test(header) ? header : '';

/** Headers that Node gives as one string or as several. */
const single = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : header?.[0];

const unavailable = refusal('unavailable', 'the receiver is shutting down', 1);

interface Exchange {
  readonly call: HttpCall;
  readonly signal: Signal;
  readonly source: string;
}

/** Serves requests of one protocol. Headers that were set before (CORS) go with every answer. */
export class HttpIngest {
  readonly #engine: Engine;
  readonly #protocol: HttpProtocol;

  constructor(engine: Engine, protocol: HttpProtocol) {
    this.#engine = engine;
    this.#protocol = protocol;
  }

  serve(call: HttpCall, signal: Signal) {
    const { inFlight, admit, sourceOf } = this.#engine;
    const { headers } = call;
    inFlight.enter();
    call.onceOver(() => inFlight.leave());
    const source = sourceOf(call.peer, single(headers['x-forwarded-for']));
    const exchange: Exchange = { call, signal, source };
    if (inFlight.draining) return this.refuse(exchange, unavailable);
    try {
      const admitted = admit(
        { licenseKey: single(headers['x-license-key']), authorization: headers.authorization, source },
        signal,
      );
      if (!(admitted instanceof Promise)) return this.#admitted(exchange, admitted);
      admitted.then(
        (caller) => this.#admitted(exchange, caller),
        (error: unknown) => this.refuse(exchange, refusalOf(error)),
      );
    } catch (error) {
      this.refuse(exchange, refusalOf(error));
    }
  }

  /** Answers without having read the body. */
  refuse({ call, signal }: Omit<Exchange, 'source'>, refused: Refusal): void {
    this.#engine.tallies[signal].count(refused.refused, 0, 0);
    this.#answer(call, this.#protocol.refused(call.headers, refused));
  }

  /** The same to a known key. */
  #reject(exchange: Exchange, caller: Caller, refused: Refusal): void {
    this.#engine.rejections.count(caller, exchange.signal, refused);
    this.refuse(exchange, refused);
  }

  #admitted(exchange: Exchange, admitted: Caller | Refusal) {
    if (isRefusal(admitted)) return this.refuse(exchange, admitted);
    const { call, signal } = exchange;
    const { headers } = call;
    const shape = this.#protocol.shape(signal, headers);
    if (isRefusal(shape)) return this.#reject(exchange, admitted, shape);
    const { maxBodyBytes } = this.#protocol;
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes)
      return this.#reject(exchange, admitted, refusal('too-large', `the body is larger than ${maxBodyBytes} bytes`));
    const origin: Origin & { caller: Caller } = {
      caller: admitted,
      signal,
      format: shape.format.carriedAs,
      source: exchange.source,
      traceparent: traceparentOf(single(headers['traceparent'])),
      receivedAtMs: this.#engine.clock.now(),
    };
    call.read(maxBodyBytes, this.#engine.inFlight, {
      whole: (body) => this.#take(exchange, shape, origin, body),
      tooLarge: (body) => this.#tooLarge(exchange, shape, origin, body),
      noMemory: () => this.#reject(exchange, admitted, refusal('unavailable', 'too many bodies are being read', 1)),
    });
  }

  #take({ call, signal }: Exchange, shape: Shape, origin: Origin & { caller: Caller }, body: Buffer): void {
    const { headers } = call;
    const received = {
      origin,
      shape,
      body,
      receiver: this.#protocol.receiver,
      contentType: headers['content-type'] ?? '',
      capBytes: this.#protocol.maxBodyBytes,
      tally: this.#engine.tallies[signal],
    };
    // Lent to a worker it has no length any more.
    const held = body.length;
    // `take` never rejects.
    void this.#engine.intake.take(received).then((answer) => {
      this.#engine.inFlight.release(held);
      this.#answer(
        call,
        isRefusal(answer) ? this.#protocol.refused(headers, answer) : this.#protocol.accepted(headers, shape, answer),
      );
    });
  }

  #tooLarge({ call, signal }: Exchange, shape: Shape, origin: Origin, body: Buffer): void {
    const { headers } = call;
    const received = {
      origin,
      shape,
      body,
      receiver: this.#protocol.receiver,
      contentType: headers['content-type'] ?? '',
      size: Number(headers['content-length'] ?? body.length),
      cut: true,
    };
    const { maxBodyBytes } = this.#protocol;
    void this.#engine.intake.tooLarge(received, maxBodyBytes, this.#engine.tallies[signal]).then((answer) => {
      this.#engine.inFlight.release(body.length);
      this.#answer(call, this.#protocol.refused(headers, answer));
    });
  }

  #answer(call: HttpCall, answer: Answer): void {
    call.answer(answer, this.#engine.inFlight.draining);
  }
}

/** Status and headers that every protocol answers a refusal with. */
export const refusedAnswer = (
  { refused, retryAfterSeconds }: Refusal,
  contentType: string,
  body: string | Buffer,
): Answer => {
  const headers: OutgoingHttpHeaders = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  if (refused === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  return { status: refusalKinds[refused].http, headers, body };
};
