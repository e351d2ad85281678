/** Formats of request bodies. Each receiver declares its own formats; the engine knows no specific format. */
import type { Format } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

/** A body format, and its conversion to the format of messages. */
export interface BodyFormat {
  /** Name of the format. Dead letters store it for replays, so it must never change after a release. */
  readonly name: string;
  /** Format of its records on the bus. */
  readonly messageFormat: Format;
  /**
   * Whether preparing a byte takes about ten times as long as for protobuf. If so, bodies above 256 KiB are
   * prepared in a worker.
   */
  readonly isCostly: boolean;
  /**
   * Translates a decompressed body to protobuf of `messageFormat`, which is scanned afterwards. Pure. Throws
   * `PermanentError` with the position for malformed input. Without it the body is already that protobuf and is
   * published unchanged.
   */
  readonly translate?: (body: Buffer, signal: Signal) => Buffer;
}

/** OTLP protobuf, over HTTP and gRPC. */
export const otlpProtobuf: BodyFormat = { name: 'otlp-protobuf', messageFormat: 'otlp', isCostly: false };
