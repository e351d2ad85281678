/** A telemetry request, from authentication to response, independent of the transport. */
import { trackWork } from '../../runtime/current-work.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { type BrowserCredentials, isRejection } from './admission.ts';
import { createErrorResponse, type ErrorResponse, toErrorResponse } from './error-responses.ts';
import type { Accepted, IngestRequest } from './ingestion.ts';
import type { Caller } from './keyring.ts';
import type { BodyShape } from './prepare.ts';
import type { Engine } from './receiver.ts';
import { RequestBody, truncateParts } from './request-body.ts';

/** A body without its framing. */
export interface Message {
  readonly shape: BodyShape;
  readonly parts: readonly Buffer[];
}

/** Transport of one request and its response: HTTP/1 or gRPC. */
export interface Transport {
  readonly receiver: string;
  readonly maxBodyBytes: number;
  /** Number of framing bytes before a body. */
  readonly framingBytes: number;
  /** Address of the peer of the connection. */
  readonly peer: string | undefined;
  /** Set for requests of browsers, which have their key in the path. */
  readonly browser: Omit<BrowserCredentials, 'source'> | undefined;
  /** Returns a header by its lower-case name; the first if there are several. */
  header(name: string): string | undefined;
  /** Returns the body's format and encoding by its headers, or a rejection. */
  shape(signal: Signal): BodyShape | ErrorResponse;
  /** Returns the length of the body declared in its headers or first bytes; 0 while unknown. */
  getDeclaredBytes(beginning: Buffer | undefined): number;
  /** Starts passing the body to `exchange`, beginning with bytes that already arrived. */
  read(exchange: Exchange): void;
  /** Returns the message within the frame. A malformed frame is stored as a dead letter. */
  decodeFrame(framed: Message): Message | ErrorResponse | PermanentError;
  respondWithSuccess(shape: BodyShape, accepted: Accepted): void;
  respondWithError(errorResponse: ErrorResponse): void;
}

const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const parseTraceparent = (header: string | undefined): string =>
  header !== undefined && header.length === 55 && traceparentPattern.test(header) ? header : '';

const shuttingDown = createErrorResponse('unavailable', 'the receiver is shutting down', 1);
const createTooLargeError = (limitBytes: number): PermanentError =>
  new PermanentError('too-large', `the body is larger than ${limitBytes} bytes`);

/** Handles one request and owns its buffered bytes. It sends one response; later bytes are dropped. */
export class Exchange {
  readonly #engine: Engine;
  readonly #transport: Transport;
  readonly #signal: Signal;
  readonly #source: string;
  readonly #body = new RequestBody();
  #caller: Caller | undefined;
  #shape: BodyShape | undefined;
  #isComplete = false;
  /** `taken`: the body was passed on, and its response is pending. `over`: the exchange has ended. */
  #phase: 'reading' | 'taken' | 'over' = 'reading';

  constructor(engine: Engine, transport: Transport, signal: Signal) {
    this.#engine = engine;
    this.#transport = transport;
    this.#signal = signal;
    this.#source = engine.resolveSource(transport.peer, transport.header('x-forwarded-for'));
  }

  /** Starts the exchange. `handleClose` ends it in any case. */
  start() {
    const { inFlight } = this.#engine;
    inFlight.enter();
    if (inFlight.isDraining) return this.#reject(shuttingDown);
    try {
      const admission = this.#admit();
      if (!(admission instanceof Promise)) return this.#onAdmitted(admission);
      admission.then(
        (caller) => this.#onAdmitted(caller),
        (error: unknown) => this.#reject(toErrorResponse(error)),
      );
    } catch (error) {
      this.#reject(toErrorResponse(error));
    }
  }

  #admit(): Caller | ErrorResponse | Promise<Caller | ErrorResponse> {
    const { admit, admitBrowser } = this.#engine;
    const transport = this.#transport;
    const source = this.#source;
    if (transport.browser !== undefined) return admitBrowser({ ...transport.browser, source }, this.#signal);
    const licenseKey = transport.header('x-license-key');
    return admit({ licenseKey, authorization: transport.header('authorization'), source }, this.#signal);
  }

  /** Adds a part of the body; its bytes must not change afterwards. */
  addData(chunk: Buffer) {
    if (this.#phase !== 'reading' || this.#isAboveCap) return;
    const rejection = this.#engine.inFlight.reserveBytes(chunk.length, this.#visitor);
    if (rejection !== undefined) return this.#reject(rejection);
    this.#body.add(chunk);
    this.#proceed();
  }

  /** Marks the body as complete. */
  completeBody(): void {
    this.#isComplete = true;
    this.#proceed();
  }

  /**
   * Called once, after the response or when the sender disconnected: no more data arrives, and no response is possible.
   */
  handleClose(): void {
    if (this.#phase === 'reading') this.#drop();
    this.#phase = 'over';
    this.#engine.inFlight.leave();
  }

  #onAdmitted(admitted: Caller | ErrorResponse) {
    if (this.#phase === 'over') return;
    if (isRejection(admitted)) return this.#reject(admitted);
    this.#caller = admitted;
    const shape = this.#transport.shape(this.#signal);
    if (isRejection(shape)) return this.#reject(shape);
    const { browser } = admitted;
    const country = browser === undefined ? '' : this.#engine.findCountry(this.#source);
    this.#shape = browser === undefined ? shape : { ...shape, browser: { ...browser.context, country } };
    this.#proceed();
    if (this.#phase === 'reading') this.#transport.read(this);
  }

  /** Address of the visitor of a page; undefined for servers. */
  get #visitor(): string | undefined {
    return this.#transport.browser === undefined ? undefined : this.#source;
  }

  get #isAboveCap(): boolean {
    return this.#body.size > this.#transport.maxBodyBytes + this.#transport.framingBytes;
  }

  /** Performs all steps that are possible with the data so far. */
  #proceed() {
    const [caller, shape, body] = [this.#caller, this.#shape, this.#body];
    if (this.#phase !== 'reading' || caller === undefined || shape === undefined) return;
    const { maxBodyBytes, framingBytes } = this.#transport;
    if (this.#transport.getDeclaredBytes(body.first) > maxBodyBytes)
      return this.#reject(createErrorResponse('too-large', createTooLargeError(maxBodyBytes).message));
    if (this.#isAboveCap) {
      const [first = Buffer.alloc(0), ...rest] = body.parts();
      const cutParts = truncateParts([first.subarray(framingBytes), ...rest], maxBodyBytes);
      const error = createTooLargeError(maxBodyBytes);
      return this.#respondWith(
        shape,
        this.#engine.ingestion.refuse(this.#createIngestRequest(caller, shape), cutParts, error, true),
      );
    }
    if (!this.#isComplete) return;
    const framedMessage: Message = { shape, parts: body.parts() };
    const message = this.#transport.decodeFrame(framedMessage);
    if (message instanceof PermanentError) {
      const request = this.#createIngestRequest(caller, shape);
      return this.#respondWith(shape, this.#engine.ingestion.refuse(request, framedMessage.parts, message));
    }
    if (isRejection(message)) return this.#reject(message);
    const request = this.#createIngestRequest(caller, message.shape);
    const accept = (): Promise<Accepted | ErrorResponse> => this.#engine.ingestion.accept(request, message.parts);
    this.#respondWith(message.shape, trackWork(`receiver ${request.receiver} ${this.#signal}`, accept));
  }

  #createIngestRequest(caller: Caller, shape: BodyShape): IngestRequest {
    const { receiver, maxBodyBytes } = this.#transport;
    return {
      caller,
      shape,
      signal: this.#signal,
      format: shape.format.messageFormat,
      // Addresses of visitors are not stored.
      source: caller.browser === undefined ? this.#source : '',
      visitor: this.#visitor,
      traceparent: parseTraceparent(this.#transport.header('traceparent')),
      receivedAtMs: this.#engine.clock.now(),
      receiver,
      contentType: this.#transport.header('content-type') ?? '',
      limitBytes: maxBodyBytes,
      requestMetrics: this.#engine.requestMetrics[this.#signal],
    };
  }

  /** The bytes of the body stay reserved until `answering` resolves; it never rejects. */
  #respondWith(shape: BodyShape, result: Promise<Accepted | ErrorResponse>): void {
    const bufferedBytes = this.#body.size;
    this.#body.clear();
    this.#phase = 'taken';
    void result.then((outcome) => {
      this.#engine.inFlight.release(bufferedBytes, this.#visitor);
      if (this.#phase === 'over') return;
      this.#phase = 'over';
      if (isRejection(outcome)) this.#transport.respondWithError(outcome);
      else this.#transport.respondWithSuccess(shape, outcome);
    });
  }

  /** Responds without accepting the body. */
  #reject(errorResponse: ErrorResponse): void {
    const { requestMetrics, rejections } = this.#engine;
    this.#drop();
    this.#phase = 'over';
    requestMetrics[this.#signal].count(errorResponse.kind, 0, 0);
    if (this.#caller !== undefined) rejections.count(this.#caller, this.#signal, errorResponse);
    this.#transport.respondWithError(errorResponse);
  }

  #drop(): void {
    this.#engine.inFlight.release(this.#body.size, this.#visitor);
    this.#body.clear();
  }
}
