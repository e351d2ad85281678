/** One request of telemetry from its credentials to its answer, whatever carries it. */
import { trackWork } from '../../runtime/current-work.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { isRefusal } from './admission.ts';
import type { Accepted, IngestRequest } from './ingestion.ts';
import type { Caller } from './keyring.ts';
import type { Shape } from './prepare.ts';
import type { Engine } from './receiver.ts';
import { type Refusal, refusal, refusalOf } from './refusal.ts';
import { cutTo, RequestBody } from './request-body.ts';

/** A body without what frames it. */
export interface Message {
  readonly shape: Shape;
  readonly parts: readonly Buffer[];
}

/** The transport of one request and its answer: HTTP/1 or gRPC. */
export interface Transport {
  readonly receiver: string;
  readonly maxBodyBytes: number;
  /** Bytes in front of a body that frame it. */
  readonly framingBytes: number;
  /** Address of the other end of the connection. */
  readonly peer: string | undefined;
  /** A header by its name in lower case; the first where there are several. */
  header(name: string): string | undefined;
  /** The body's format and encoding by its headers, or why it is refused. */
  shape(signal: Signal): Shape | Refusal;
  /** How long the sender says that the body is, in its headers or its beginning; 0 while that is not known. */
  announcedBytes(beginning: Buffer | undefined): number;
  /** Starts to pass the body to `exchange`, beginning with bytes that arrived before. */
  read(exchange: Exchange): void;
  /** The message within the frame. A malformed frame is kept as a dead letter. */
  unframe(framed: Message): Message | Refusal | PermanentError;
  accepted(shape: Shape, accepted: Accepted): void;
  refused(refused: Refusal): void;
}

const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const traceparentOf = (header: string | undefined): string =>
  header !== undefined && header.length === 55 && traceparentForm.test(header) ? header : '';

const stopping = refusal('unavailable', 'the receiver is shutting down', 1);
const noMemory = refusal('unavailable', 'too many bodies are being read', 1);
const tooLarge = (capBytes: number): PermanentError =>
  new PermanentError('too-large', `the body is larger than ${capBytes} bytes`);

/** Owns the bytes that are held for the request. It is answered once; what comes after that is dropped. */
export class Exchange {
  readonly #engine: Engine;
  readonly #transport: Transport;
  readonly #signal: Signal;
  readonly #source: string;
  readonly #body = new RequestBody();
  #caller: Caller | undefined;
  #shape: Shape | undefined;
  #isWhole = false;
  /** `taken` when the body is handed on and its answer awaited. */
  #state: 'reading' | 'taken' | 'over' = 'reading';

  constructor(engine: Engine, transport: Transport, signal: Signal) {
    this.#engine = engine;
    this.#transport = transport;
    this.#signal = signal;
    this.#source = engine.sourceOf(transport.peer, transport.header('x-forwarded-for'));
  }

  /** Begins it; `closed` ends it, however it goes. */
  start() {
    const { inFlight, admit } = this.#engine;
    const transport = this.#transport;
    inFlight.enter();
    if (inFlight.draining) return this.#refuse(stopping);
    try {
      const credentials = {
        licenseKey: transport.header('x-license-key'),
        authorization: transport.header('authorization'),
        source: this.#source,
      };
      const admitted = admit(credentials, this.#signal);
      if (!(admitted instanceof Promise)) return this.#admitted(admitted);
      admitted.then(
        (caller) => this.#admitted(caller),
        (error: unknown) => this.#refuse(refusalOf(error)),
      );
    } catch (error) {
      this.#refuse(refusalOf(error));
    }
  }

  /** Part of the body; its bytes do not change any more. */
  data(chunk: Buffer) {
    if (this.#state !== 'reading' || this.#isAboveCap) return;
    if (!this.#engine.inFlight.hold(chunk.length)) return this.#refuse(noMemory);
    this.#body.add(chunk);
    this.#proceed();
  }

  /** The body is whole. */
  end(): void {
    this.#isWhole = true;
    this.#proceed();
  }

  /** Once, when it is answered or its sender is gone: nothing more comes, and nothing can be answered. */
  closed(): void {
    if (this.#state === 'reading') this.#drop();
    this.#state = 'over';
    this.#engine.inFlight.leave();
  }

  #admitted(admitted: Caller | Refusal) {
    if (this.#state === 'over') return;
    if (isRefusal(admitted)) return this.#refuse(admitted);
    this.#caller = admitted;
    const shape = this.#transport.shape(this.#signal);
    if (isRefusal(shape)) return this.#refuse(shape);
    this.#shape = shape;
    this.#proceed();
    if (this.#state === 'reading') this.#transport.read(this);
  }

  get #isAboveCap(): boolean {
    return this.#body.size > this.#transport.maxBodyBytes + this.#transport.framingBytes;
  }

  /** Does what can be done by now. */
  #proceed() {
    const [caller, shape, body] = [this.#caller, this.#shape, this.#body];
    if (this.#state !== 'reading' || caller === undefined || shape === undefined) return;
    const { maxBodyBytes, framingBytes } = this.#transport;
    if (this.#transport.announcedBytes(body.first) > maxBodyBytes)
      return this.#refuse(refusal('too-large', tooLarge(maxBodyBytes).message));
    if (this.#isAboveCap) {
      const [first = Buffer.alloc(0), ...rest] = body.parts();
      const cutParts = cutTo([first.subarray(framingBytes), ...rest], maxBodyBytes);
      const fault = tooLarge(maxBodyBytes);
      return this.#answerWith(
        shape,
        this.#engine.ingestion.refuse(this.#request(caller, shape), cutParts, fault, true),
      );
    }
    if (!this.#isWhole) return;
    const framed: Message = { shape, parts: body.parts() };
    const message = this.#transport.unframe(framed);
    if (message instanceof PermanentError) {
      const request = this.#request(caller, shape);
      return this.#answerWith(shape, this.#engine.ingestion.refuse(request, framed.parts, message));
    }
    if (isRefusal(message)) return this.#refuse(message);
    const request = this.#request(caller, message.shape);
    const accept = (): Promise<Accepted | Refusal> => this.#engine.ingestion.accept(request, message.parts);
    this.#answerWith(message.shape, trackWork(`receiver ${request.receiver} ${this.#signal}`, accept));
  }

  #request(caller: Caller, shape: Shape): IngestRequest {
    const { receiver, maxBodyBytes } = this.#transport;
    return {
      caller,
      shape,
      signal: this.#signal,
      format: shape.format.carriedAs,
      source: this.#source,
      traceparent: traceparentOf(this.#transport.header('traceparent')),
      receivedAtMs: this.#engine.clock.now(),
      receiver,
      contentType: this.#transport.header('content-type') ?? '',
      capBytes: maxBodyBytes,
      requestMetrics: this.#engine.requestMetrics[this.#signal],
    };
  }

  /** The body is held until `answering` resolves; it never rejects. */
  #answerWith(shape: Shape, answering: Promise<Accepted | Refusal>): void {
    const held = this.#body.size;
    this.#body.clear();
    this.#state = 'taken';
    void answering.then((answer) => {
      this.#engine.inFlight.release(held);
      if (this.#state === 'over') return;
      this.#state = 'over';
      if (isRefusal(answer)) this.#transport.refused(answer);
      else this.#transport.accepted(shape, answer);
    });
  }

  /** Answers without having taken the body. */
  #refuse(refused: Refusal): void {
    const { requestMetrics, rejections } = this.#engine;
    this.#drop();
    this.#state = 'over';
    requestMetrics[this.#signal].count(refused.refused, 0, 0);
    if (this.#caller !== undefined) rejections.count(this.#caller, this.#signal, refused);
    this.#transport.refused(refused);
  }

  #drop(): void {
    this.#engine.inFlight.release(this.#body.size);
    this.#body.clear();
  }
}
