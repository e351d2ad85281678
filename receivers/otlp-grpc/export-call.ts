/** One call of an `Export` method: metadata, admission, one message under a cap, the answer. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { PermanentError } from '../../schemas/errors.ts';
import type { Signal } from '../../schemas/topics.ts';
import { isRefusal } from '../engine/admission.ts';
import { single, traceparentOf } from '../engine/http-ingest.ts';
import type { Accepted } from '../engine/intake.ts';
import type { Caller } from '../engine/keyring.ts';
import type { Origin } from '../engine/publisher.ts';
import type { Engine } from '../engine/receiver.ts';
import { type Refusal, refusal, refusalKinds, refusalOf } from '../engine/refusal.ts';
import { encodingOf } from '../engine/refuse.ts';
import { code, fail, headerBytes, succeed, timeoutMs } from './framing.ts';

/** A message that has not come whole by then belongs to a sender that is gone or means no good. */
const bodyTimeoutMs = 120_000;
const stopping = refusal('unavailable', 'the receiver is shutting down', 1);
const noMemory = refusal('unavailable', 'too many bodies are being read', 1);

export interface CallOptions {
  readonly engine: Engine;
  readonly receiver: string;
  readonly maxBodyBytes: number;
}

export class ExportCall {
  readonly #options: CallOptions;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #signal: Signal;
  readonly #source: string;
  #caller: Caller | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #read = false;
  #answered = false;
  /** On the `performance.now()` clock. */
  deadlineAt: number;

  constructor(
    options: CallOptions,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    signal: Signal,
    peer: string | undefined,
  ) {
    this.#options = options;
    this.#stream = stream;
    this.#headers = headers;
    this.#signal = signal;
    const { engine } = options;
    const forwardedFor = single(headers['x-forwarded-for']);
    this.#source = engine.sourceOf(peer, forwardedFor);
    const timeout = timeoutMs(single(headers['grpc-timeout']));
    this.deadlineAt = performance.now() + Math.min(timeout ?? bodyTimeoutMs, bodyTimeoutMs);
  }

  start() {
    const { engine } = this.#options;
    const stream = this.#stream;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.once('end', () => this.#ended());
    if (engine.inFlight.draining) return this.#refuse(stopping);
    try {
      const admitted = engine.admit(
        {
          licenseKey: single(this.#headers['x-license-key']),
          authorization: this.#headers.authorization,
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

  /** The time that the caller gave, or that a body may take, is over. */
  expire(): void {
    if (this.#answered) return;
    this.#answered = true;
    fail(this.#stream, code.deadlineExceeded, 'the deadline passed before the request was durable');
  }

  /** The stream is closed: what was read and not yet handed on is forgotten. */
  closed(): void {
    this.#answered = true;
    if (!this.#read) this.#forget();
  }

  #admitted(admitted: Caller | Refusal) {
    if (isRefusal(admitted)) return this.#refuse(admitted);
    this.#caller = admitted;
    if (this.#read) this.#whole();
  }

  #take(chunk: Buffer) {
    if (this.#answered) return;
    const { engine, maxBodyBytes } = this.#options;
    if (!engine.inFlight.hold(chunk.length)) return this.#refuse(noMemory);
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > maxBodyBytes + headerBytes || this.#announced() > maxBodyBytes) this.#tooLarge();
  }

  /** The length that the message says it has; 0 as long as that is not known. */
  #announced(): number {
    const [first] = this.#chunks;
    return first !== undefined && first.length >= headerBytes ? first.readUInt32BE(1) : 0;
  }

  #ended(): void {
    if (this.#answered || this.#read) return;
    this.#read = true;
    if (this.#caller !== undefined) this.#whole();
  }

  #tooLarge() {
    const { engine, maxBodyBytes, receiver } = this.#options;
    const size = this.#announced();
    if (this.#caller === undefined) return this.#refuse(refusal('too-large', 'the message is too large'));
    this.#read = true;
    const body = Buffer.concat(this.#chunks).subarray(headerBytes, headerBytes + maxBodyBytes);
    const held = this.#size;
    const received = { origin: this.#origin(this.#caller), receiver, ...this.#described(), body, size, cut: true };
    void engine.intake.tooLarge(received, maxBodyBytes, engine.tallies[this.#signal]).then((answer) => {
      engine.inFlight.release(held);
      this.#answer(answer);
    });
    // The rest is not read; the answer follows when the copy is durable.
    this.#stream.pause();
  }

  #whole() {
    const { engine, receiver, maxBodyBytes } = this.#options;
    const caller = this.#caller;
    if (caller === undefined) return;
    const [first] = this.#chunks;
    const bytes = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [];
    const body = bytes.subarray(headerBytes);
    const origin = this.#origin(caller);
    const described = this.#described();
    const tally = engine.tallies[this.#signal];
    const held = this.#size;
    if (bytes.length < headerBytes || bytes.readUInt32BE(1) !== body.length || (bytes[0] ?? 0) > 1) {
      const fault = new PermanentError('bad-framing', 'the call did not carry exactly one whole gRPC message');
      const received = { origin, receiver, ...described, body: bytes, size: bytes.length, cut: false };
      void engine.intake.malformed(received, fault, tally).then((answer) => this.#finish(held, answer));
      return;
    }
    const contentEncoding = bytes[0] === 1 ? described.contentEncoding : '';
    const encoding = encodingOf(contentEncoding);
    if (encoding === undefined || encoding === 'snappy' || (bytes[0] === 1 && encoding === 'identity'))
      return this.#unsupported(held, caller);
    const shape = { signal: this.#signal, format: 'otlp', media: 'protobuf', encoding } as const;
    const request = { origin, receiver, ...described, contentEncoding, shape, body, capBytes: maxBodyBytes, tally };
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

  #described(): { contentType: string; contentEncoding: string } {
    return {
      contentType: this.#headers['content-type'] ?? '',
      contentEncoding: single(this.#headers['grpc-encoding']) ?? '',
    };
  }

  #origin(caller: Caller): Origin & { caller: Caller } {
    return {
      caller,
      signal: this.#signal,
      format: 'otlp',
      source: this.#source,
      traceparent: traceparentOf(single(this.#headers['traceparent'])),
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
    this.#options.engine.inFlight.release(this.#size);
    this.#chunks = [];
    this.#size = 0;
  }

  #answer(answer: Accepted | Refusal): void {
    if (this.#answered) return;
    this.#answered = true;
    if (isRefusal(answer))
      fail(this.#stream, refusalKinds[answer.refused].grpc, answer.message, answer.retryAfterSeconds);
    else succeed(this.#stream);
  }
}
