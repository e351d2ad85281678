/** Formats of request bodies. Each receiver declares its own; the engine names none. */
import type { Format } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

/** One form of a body, and how it becomes what messages carry. */
export interface BodyFormat {
  /** Dead letters keep it for their replay, so it never changes once it is released. */
  readonly name: string;
  /** The form of its records on the bus. */
  readonly carriedAs: Format;
  /** A byte costs about ten times what protobuf's costs: bodies above 256 KiB are prepared off the main thread. */
  readonly costly: boolean;
  /**
   * Translates a decompressed body to protobuf of `carriedAs`, which is scanned after it. Pure. Throws `PermanentError` for what is
   * malformed, with the position. Without it the body is that protobuf already and is published as it came.
   */
  readonly translate?: (body: Buffer, signal: Signal) => Buffer;
}

/** OTLP's protobuf, over HTTP and gRPC. */
export const otlpProtobuf: BodyFormat = { name: 'otlp-protobuf', carriedAs: 'otlp', costly: false };
