/** One call of an `Export` method: metadata, admission, one message under a cap, the answer. */
import { PermanentError } from '../../schemas/errors.ts';
import type { Signal } from '../../schemas/topics.ts';
import { isRefusal } from '../engine/admission.ts';
import { otlpProtobuf } from '../engine/body-format.ts';
import { traceparentOf } from '../engine/http-ingest.ts';
import type { Accepted } from '../engine/intake.ts';
import type { Caller } from '../engine/keyring.ts';
import { Pieces } from '../engine/pieces.ts';
import type { Shape } from '../engine/prepare.ts';
import type { Origin } from '../engine/publisher.ts';
import type { Engine } from '../engine/receiver.ts';
import { type Refusal, refusal, refusalKinds, refusalOf } from '../engine/refusal.ts';
import { encodingOf, type Received } from '../engine/refuse.ts';
import type { Http2Stream, StreamHandler } from '../http2/server.ts';
import { code, fail, headerBytes, succeed, timeoutMs } from './framing.ts';

/** A message that has not come whole by then belongs to a sender that is gone or means no good. */
const bodyTimeoutMs = 120_000;
const stopping = refusal('unavailable', 'the receiver is shutting down', 1);
const noMemory = refusal('unavailable', 'too many bodies are being read', 1);

export interface CallOptions {
  readonly engine: Engine;
  readonly receiver: string;
  readonly maxBodyBytes: number;
  /** The call is over. */
  forget(call: ExportCall): void;
}

export class ExportCall implements StreamHandler {
  readonly #options: CallOptions;
  readonly #stream: Http2Stream;
  readonly #signal: Signal;
  readonly #source: string;
  #caller: Caller | undefined;
  readonly #body = new Pieces();
  #read = false;
  /** There is more than is taken. */
  #cut = false;
  #answered = false;
  /** On the `performance.now()` clock. */
  readonly #deadlineAt: number;

  constructor(options: CallOptions, stream: Http2Stream, signal: Signal) {
    this.#options = options;
    this.#stream = stream;
    this.#signal = signal;
    const { headers } = stream;
    const { engine } = options;
    const forwardedFor = headers['x-forwarded-for'];
    this.#source = engine.sourceOf(stream.peer, forwardedFor);
    const timeout = timeoutMs(headers['grpc-timeout']);
    this.#deadlineAt = performance.now() + Math.min(timeout ?? bodyTimeoutMs, bodyTimeoutMs);
  }

  start() {
    const { engine } = this.#options;
    if (engine.inFlight.draining) return this.#refuse(stopping);
    try {
      const admitted = engine.admit(
        {
          licenseKey: this.#stream.headers['x-license-key'],
          authorization: this.#stream.headers.authorization,
          source: this.#source,
        },
        this.#signal,
      );
      if (!(admitted instanceof Promise)) return this.#admitted(admitted);
      admitted.then(
        (caller) => this.#admitted(caller),
        (error: unknown) => this.#refuse(refusalOf(error)),
      );
    } catch (error) {
      this.#refuse(refusalOf(error));
    }
  }

  /** Ends it when the time that the caller gave, or that a body may take, is over. */
  sweep(now: number): void {
    if (this.#answered || now < this.#deadlineAt) return;
    this.#answered = true;
    fail(this.#stream, code.deadlineExceeded, 'the deadline passed before the request was durable');
  }

  /** What was read and not yet handed on is forgotten. */
  closed(): void {
    this.#answered = true;
    if (!this.#read) this.#forget();
    this.#options.forget(this);
  }

  #admitted(admitted: Caller | Refusal) {
    if (isRefusal(admitted)) return this.#refuse(admitted);
    this.#caller = admitted;
    if (this.#cut) this.#tooLarge(admitted);
    else if (this.#read) this.#whole(admitted);
  }

  data(chunk: Buffer) {
    if (this.#answered || this.#read) return;
    const { engine, maxBodyBytes } = this.#options;
    if (!engine.inFlight.hold(chunk.length)) return this.#refuse(noMemory);
    this.#body.add(chunk);
    if (this.#body.size > maxBodyBytes + headerBytes || this.#announced() > maxBodyBytes) {
      // What still comes is dropped; the answer follows when the copy is durable.
      this.#read = true;
      this.#cut = true;
      if (this.#caller !== undefined) this.#tooLarge(this.#caller);
    }
  }

  /** The length that the message says it has; 0 as long as that is not known. */
  #announced(): number {
    const { first } = this.#body;
    return first !== undefined && first.length >= headerBytes ? first.readUInt32BE(1) : 0;
  }

  end(): void {
    if (this.#answered || this.#read) return;
    this.#read = true;
    if (this.#caller !== undefined) this.#whole(this.#caller);
  }

  #tooLarge(caller: Caller): void {
    const { engine, maxBodyBytes, receiver } = this.#options;
    const size = this.#announced();
    const body = this.#body.joined().subarray(headerBytes, headerBytes + maxBodyBytes);
    const held = this.#body.size;
    this.#body.clear();
    const received = { origin: this.#origin(caller), receiver, ...this.#described('identity'), body, size, cut: true };
    void engine.intake.tooLarge(received, maxBodyBytes, engine.tallies[this.#signal]).then((answer) => {
      engine.inFlight.release(held);
      this.#answer(answer);
    });
  }

  #whole(caller: Caller) {
    const { engine, receiver, maxBodyBytes } = this.#options;
    const bytes = this.#body.joined();
    const body = bytes.subarray(headerBytes);
    const origin = this.#origin(caller);
    const tally = engine.tallies[this.#signal];
    const held = bytes.length;
    this.#body.clear();
    if (bytes.length < headerBytes || bytes.readUInt32BE(1) !== body.length || (bytes[0] ?? 0) > 1) {
      const fault = new PermanentError('bad-framing', 'the call did not carry exactly one whole gRPC message');
      const received = {
        origin,
        receiver,
        ...this.#described('identity'),
        body: bytes,
        size: bytes.length,
        cut: false,
      };
      void engine.intake.malformed(received, fault, tally).then((answer) => this.#finish(held, answer));
      return;
    }
    const contentEncoding = bytes[0] === 1 ? (this.#stream.headers['grpc-encoding'] ?? '') : '';
    const encoding = encodingOf(contentEncoding);
    if (encoding === undefined || encoding === 'snappy' || (bytes[0] === 1 && encoding === 'identity'))
      return this.#unsupported(held, caller);
    const request = { origin, receiver, ...this.#described(encoding), body, capBytes: maxBodyBytes, tally };
    void engine.intake.take(request).then((answer) => this.#finish(held, answer));
  }

  #unsupported(held: number, caller: Caller): void {
    const refused = refusal('unsupported-encoding', 'grpc-encoding must be gzip, deflate, zstd or identity');
    this.#options.engine.rejections.count(caller, this.#signal, refused);
    this.#finish(held, refused);
  }

  #finish(held: number, answer: Accepted | Refusal): void {
    this.#options.engine.inFlight.release(held);
    this.#answer(answer);
  }

  #described(encoding: Shape['encoding']): Pick<Received, 'contentType' | 'shape'> {
    return {
      contentType: this.#stream.headers['content-type'] ?? '',
      shape: { signal: this.#signal, format: otlpProtobuf, encoding },
    };
  }

  #origin(caller: Caller): Origin & { caller: Caller } {
    return {
      caller,
      signal: this.#signal,
      format: 'otlp',
      source: this.#source,
      traceparent: traceparentOf(this.#stream.headers['traceparent']),
      receivedAtMs: this.#options.engine.clock.now(),
    };
  }

  #refuse(refused: Refusal): void {
    this.#forget();
    const { tallies, rejections } = this.#options.engine;
    tallies[this.#signal].count(refused.refused, 0, 0);
    if (this.#caller !== undefined) rejections.count(this.#caller, this.#signal, refused);
    this.#answer(refused);
  }

  #forget(): void {
    this.#options.engine.inFlight.release(this.#body.size);
    this.#body.clear();
  }

  #answer(answer: Accepted | Refusal): void {
    if (this.#answered) return;
    this.#answered = true;
    if (isRefusal(answer))
      fail(this.#stream, refusalKinds[answer.refused].grpc, answer.message, answer.retryAfterSeconds);
    else succeed(this.#stream);
  }
}
