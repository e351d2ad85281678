/** A call of an `Export` method: one message in a frame, and a deadline. */
import { PermanentError } from '../../schemas/errors.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { otlpProtobuf } from '../engine/body-format.ts';
import { parseEncoding } from '../engine/dead-letters.ts';
import { createErrorResponse, type ErrorResponse, errorKinds } from '../engine/error-responses.ts';
import { Exchange, type Message, type Transport } from '../engine/exchange.ts';
import type { Accepted } from '../engine/ingestion.ts';
import type { BodyShape } from '../engine/prepare.ts';
import type { Engine } from '../engine/receiver.ts';
import { countBytes } from '../engine/request-body.ts';
import { encodePartialSuccess } from '../engine/status.ts';
import {
  frameMessage,
  headerBytes,
  parseTimeoutMs,
  respondWithError,
  respondWithMessage,
  statusCode,
} from './framing.ts';
import type { ServerStream, StreamHandler } from './grpc-server.ts';

export const receiverName = 'otlp-grpc';
export const maxBodyBytes = 50 * 1024 * 1024;
/** Time limit for receiving a complete message */
const bodyTimeoutMs = 120_000;

export class ExportCall implements Transport, StreamHandler {
  readonly receiver = receiverName;
  readonly maxBodyBytes = maxBodyBytes;
  readonly framingBytes = headerBytes;
  readonly browser = undefined;
  readonly #stream: ServerStream;
  readonly #exchange: Exchange;
  readonly #onEnd: (call: ExportCall) => void;
  /** On the `performance.now()` clock. */
  readonly #deadlineAt: number;

  /** `forget` is called when the call is over. */
  constructor(engine: Engine, stream: ServerStream, signal: Signal, onEnd: (call: ExportCall) => void) {
    this.#stream = stream;
    this.#onEnd = onEnd;
    const timeout = parseTimeoutMs(stream.headers['grpc-timeout']);
    this.#deadlineAt = performance.now() + Math.min(timeout ?? bodyTimeoutMs, bodyTimeoutMs);
    this.#exchange = new Exchange(engine, this, signal);
  }

  start(): void {
    this.#exchange.start();
  }

  /** Ends the call after the caller's deadline, or after the timeout of a body. */
  checkDeadlines(now: number): void {
    if (now >= this.#deadlineAt)
      respondWithError(this.#stream, statusCode.deadlineExceeded, 'the deadline passed before the request was durable');
  }

  data(chunk: Buffer): void {
    this.#exchange.addData(chunk);
  }

  end(): void {
    this.#exchange.completeBody();
  }

  closed(): void {
    this.#exchange.handleClose();
    this.#onEnd(this);
  }

  get peer(): string | undefined {
    return this.#stream.peer;
  }

  header(name: string): string | undefined {
    return this.#stream.headers[name];
  }

  /**
   * The message is not compressed as a whole: compression is indicated by the flag that precedes it, which `decodeFrame`
   * reads.
   */
  shape(signal: Signal): BodyShape {
    return { signal, format: otlpProtobuf, encoding: 'identity' };
  }

  getDeclaredBytes(beginning: Buffer | undefined): number {
    return beginning !== undefined && beginning.length >= headerBytes ? beginning.readUInt32BE(1) : 0;
  }

  /** The body arrives without a request, within the stream's window. */
  read(): void {}

  decodeFrame({ shape, parts }: Message): Message | ErrorResponse | PermanentError {
    const [firstPart = Buffer.alloc(0), ...rest] = parts;
    const [flag = 0] = firstPart;
    if (firstPart.length < headerBytes || countBytes(parts) !== headerBytes + firstPart.readUInt32BE(1) || flag > 1)
      return new PermanentError('bad-framing', 'the call did not contain exactly one complete gRPC message');
    const message = [firstPart.subarray(headerBytes), ...rest];
    if (flag === 0) return { shape, parts: message };
    const encoding = parseEncoding(this.header('grpc-encoding') ?? '');
    if (encoding === undefined || encoding === 'snappy' || encoding === 'identity')
      return createErrorResponse('unsupported-encoding', 'grpc-encoding must be gzip, deflate, zstd or identity');
    return { shape: { ...shape, encoding }, parts: message };
  }

  respondWithSuccess(_shape: BodyShape, { rejected }: Accepted): void {
    if (rejected === undefined) respondWithMessage(this.#stream);
    else respondWithMessage(this.#stream, frameMessage(encodePartialSuccess(rejected)));
  }

  respondWithError({ kind, message, retryAfterSeconds }: ErrorResponse): void {
    respondWithError(this.#stream, errorKinds[kind].grpc, message, retryAfterSeconds);
  }
}
