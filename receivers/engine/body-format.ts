/** Formats of request bodies. Each receiver declares its own formats; the engine knows no specific format. */
import type { BrowserPrivacy } from '../../schemas/browser-privacy.ts';
import type { PermanentError } from '../../schemas/errors.ts';
import type { RejectedBody } from '../../schemas/protobuf/separate.ts';
import type { TimeRange } from '../../schemas/readable-times.ts';
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
  /** Returns whether a rejected body must not be stored, because it may contain user input. */
  readonly isSensitive?: (fault: PermanentError) => boolean;
  /**
   * Translates a decompressed body to protobuf of `messageFormat`, which is scanned afterwards. Sets invalid records
   * aside, and those outside of `times`. Pure. Throws `PermanentError` with the position if the body is malformed or has
   * no valid record. Without it the body is already that protobuf and is published unchanged.
   */
  readonly translate?: (body: Buffer, signal: Signal, times?: TimeRange, browser?: BrowserContext) => Translation;
}

/** Context of a browser key for the translation of a body. It can be transferred to a thread. */
export interface BrowserContext {
  /** Absent in dead letters of earlier versions. */
  readonly tenantId?: string;
  /** `service.name` of the application. */
  readonly application: string;
  readonly privacy: BrowserPrivacy;
  /** Two letters of the country of the visitor; empty if unknown, and when a dead letter is replayed. */
  readonly country?: string;
}

/** Protobuf of a message format, and the rejected part of the body, in the format of the body. */
export interface Translation {
  readonly body: Buffer;
  /** Further contents of a body that has several kinds of records. */
  readonly additionalRequests?: readonly TranslatedRequest[];
  /** Values of other topics in the body, with the number of their records. */
  readonly publications?: readonly Publication[];
  readonly publishedRecords?: number;
  /** Number of recorded events that are dropped, because they cannot be read and masked. */
  readonly droppedRecordings?: number;
  /** Number of values that were removed or shortened because they may contain personal data. */
  readonly removedValues?: number;
  /** Number of values in recordings that were masked here and not by the page. */
  readonly maskedValues?: number;
  /** Sessions of browsers in the body. Their requests and bytes are limited. */
  readonly sessions?: readonly string[];
  readonly rejected: RejectedBody | undefined;
}

/** An export request of another telemetry signal in the same body. */
export interface TranslatedRequest {
  readonly signal: Signal;
  readonly format: Format;
  readonly body: Buffer;
}

/** A value of a topic, to which its tenant and project are added. It can be transferred from a thread. */
export interface Publication {
  readonly topic: string;
  /** Values of a tenant with equal keys stay in order. */
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** OTLP protobuf, over HTTP and gRPC. */
export const otlpProtobuf: BodyFormat = { name: 'otlp-protobuf', messageFormat: 'otlp', isCostly: false };
