import { decompress } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { decodeHeaders, type Format, maxMessageDecompressedBytes } from '../../schemas/telemetry-message.ts';
import type { Rows } from '../native/rows.ts';
import type { MessageUsage } from './message-usage.ts';
import type { SeenIds } from './seen-ids.ts';
import type { RowSource } from './source.ts';

/** A message of the bus, as it reaches a worker. */
export interface ScanMessage {
  readonly offset: number;
  /** When the bus took it. */
  readonly timestampMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Uint8Array;
}

/**
 * Turns messages into rows. Held by one worker and used for one batch at a time; the engine marks and rolls back the
 * rows around each message.
 */
export interface Scanner {
  /** In the order in which they are inserted: what rows refer to comes before them. */
  readonly tables: readonly Rows[];
  readonly seen: readonly SeenIds[];
  /** Appends the rows of one message. Whatever it throws, the message can never be processed. */
  scan(message: ScanMessage, partition: number): void;
  /** Forgets an unfinished row, after `scan` threw. */
  abandon(): void;
  /** Appends rows that tell of the batch as a whole: messages from `first` to `last`. Called once, behind all of them. */
  finish?(first: number, last: number): void;
}

/** Appends the rows of one member's decompressed body. */
export type ScanBody = (body: Uint8Array, format: Format, source: RowSource) => void;

/** Reads a telemetry message's headers, and gives each of its members' bodies to `scanBody`, which adds what landed to `usage`. */
export const scanMembers = (usage: MessageUsage, scanBody: ScanBody): Scanner['scan'] => {
  const source: RowSource = { tenantId: '', projectId: '', partition: 0, offset: 0, receivedAtMs: 0, ordinal: 0 };
  return ({ offset, headers, value }, partition) => {
    const decoded = decodeHeaders(headers);
    const { tenantId, projectId, format, encoding, members } = decoded;
    usage.begin(decoded);
    Object.assign(source, { tenantId, projectId, partition, offset, ordinal: 0 });
    let at = 0;
    let room = maxMessageDecompressedBytes;
    for (const member of members) {
      const { length, receivedAtMs } = member;
      if (!(length >= 0 && at + length <= value.length)) {
        throw new PermanentError('bad-headers', `a member of ${length} bytes passes the end of its message`);
      }
      const body = decompress(encoding, value.subarray(at, at + length), room);
      source.receivedAtMs = receivedAtMs;
      usage.member(member);
      scanBody(body, format, source);
      at += length;
      room -= body.length;
    }
    if (at !== value.length) {
      throw new PermanentError('bad-headers', `the members are ${at} bytes and the message is ${value.length}`);
    }
    usage.end(partition, offset);
  };
};
