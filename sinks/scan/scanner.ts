import { decompress } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { decodeHeaders, type Format, maxMessageDecompressedBytes } from '../../schemas/telemetry-message.ts';
import type { TableWriters } from '../native/rows.ts';
import type { LandedHours } from './landed-hours.ts';
import type { MessageUsage } from './message-usage.ts';
import type { RowSource } from './source.ts';

/** A message of the bus, in the form in which a worker receives it. */
export interface ScanMessage {
  readonly offset: number;
  /** When the bus accepted the message. */
  readonly timestampMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Uint8Array;
}

/**
 * Converts messages to rows. Belongs to one worker and processes one batch at a time. The engine marks the rows
 * before each message, and rolls them back after an error.
 */
export interface Scanner {
  /** Tables in insert order: referenced rows precede those that refer to them. */
  readonly tables: readonly TableWriters[];
  readonly landedHours: readonly LandedHours[];
  /** Appends the rows of one message. Any error means that the message can never be processed. */
  scan(message: ScanMessage, partition: number): void;
  /** Discards an incomplete row, after `scan` threw. */
  discardRow(): void;
  /** Appends rows about the entire batch, from message `first` to `last`. Called once, after all of them. */
  finish?(first: number, last: number): void;
}

/** Appends the rows of one member's decompressed body. */
export type ScanBody = (body: Uint8Array, format: Format, source: RowSource) => void;

/**
 * Returns a scan function that reads a telemetry message's headers and passes each member's body to `scanBody`, which
 * adds landed records to `usage`.
 */
export const scanMembers = (usage: MessageUsage, scanBody: ScanBody): Scanner['scan'] => {
  const source: RowSource = { tenantId: '', projectId: '', partition: 0, offset: 0, receivedAtMs: 0, ordinal: 0 };
  return ({ offset, headers, value }, partition) => {
    const decodedHeaders = decodeHeaders(headers);
    const { tenantId, projectId, format, encoding, members } = decodedHeaders;
    usage.begin(decodedHeaders);
    Object.assign(source, { tenantId, projectId, partition, offset, ordinal: 0 });
    let position = 0;
    let remainingBytes = maxMessageDecompressedBytes;
    for (const member of members) {
      const { length, receivedAtMs } = member;
      if (!(length >= 0 && position + length <= value.length)) {
        throw new PermanentError('bad-headers', `a member of ${length} bytes exceeds the end of its message`);
      }
      const body = decompress(encoding, value.subarray(position, position + length), remainingBytes);
      source.receivedAtMs = receivedAtMs;
      usage.member(member);
      scanBody(body, format, source);
      position += length;
      remainingBytes -= body.length;
    }
    if (position !== value.length) {
      throw new PermanentError('bad-headers', `the members are ${position} bytes and the message is ${value.length}`);
    }
    usage.end(partition, offset);
  };
};
