/** One record as stored in a segment file. The README of this folder shows the byte layout. */
import { crc32 } from 'node:zlib';
import { PermanentError } from '../../schemas/errors.ts';
import { type BusRecord, countRecords, type Message } from '../../schemas/ports/bus.ts';

/** "OIQ1", little endian; readers use it to find the next record after a damaged one. */
export const magic = Buffer.from('OIQ1');
const magicNumber = magic.readUInt32LE(0);
export const headBytes = 56;
/** Longer lengths indicate damage. */
const maxRecordBytes = 256 * 1024 * 1024;
const fieldOffsets = {
  crc: 4,
  length: 8,
  valueLength: 12,
  headersLength: 16,
  keyLength: 20,
  offset: 24,
  timestamp: 32,
  transaction: 40,
  group: 48,
} as const;

const writeInteger = (buffer: Buffer, value: number, position: number): void => {
  buffer.writeUInt32LE(value % 0x1_0000_0000, position);
  buffer.writeUInt32LE(Math.floor(value / 0x1_0000_0000), position + 4);
};
const readInteger = (buffer: Buffer, position: number): number =>
  buffer.readUInt32LE(position) + buffer.readUInt32LE(position + 4) * 0x1_0000_0000;

/** Returns the arrival time in the head of a record. */
export const readTimestamp = (head: Buffer): number => readInteger(head, fieldOffsets.timestamp);

/** A message encoded for any offset: `stamp` writes the offset into it. The value is not copied. */
export interface EncodedRecord {
  /** Fixed-size head, key and headers. */
  readonly head: Buffer;
  readonly value: Uint8Array;
  /** Number of telemetry records in the message. */
  readonly weight: number;
}

export const encodeRecord = ({ key, value, headers }: Message): EncodedRecord => {
  const keyLength = Buffer.byteLength(key);
  if (keyLength > 0xffff)
    throw new PermanentError('key-too-long', `a message key of ${keyLength} bytes is above 65535`);
  const json = Object.keys(headers).length === 0 ? '' : JSON.stringify(headers);
  const headersLength = Buffer.byteLength(json);
  const head = Buffer.allocUnsafe(headBytes + keyLength + headersLength);
  head.writeUInt32LE(magicNumber, 0);
  head.writeUInt32LE(head.length + value.length, fieldOffsets.length);
  head.writeUInt32LE(value.length, fieldOffsets.valueLength);
  head.writeUInt32LE(headersLength, fieldOffsets.headersLength);
  head.writeUInt32LE(keyLength, fieldOffsets.keyLength);
  head.write(key, headBytes);
  head.write(json, headBytes + keyLength);
  return { head, value, weight: countRecords(headers) };
};

/**
 * Data that the log adds to a message. `group` is the first offset of the records that were written and synced in the
 * same write.
 */
export interface Stamp {
  readonly offset: number;
  readonly timestampMs: number;
  /** 0 outside transactions. */
  readonly transaction: number;
  readonly group: number;
}

/** Writes the stamp and the checksum into the head. */
export const writeStamp = (
  { head, value }: EncodedRecord,
  { offset, timestampMs, transaction, group }: Stamp,
): void => {
  writeInteger(head, offset, fieldOffsets.offset);
  writeInteger(head, timestampMs, fieldOffsets.timestamp);
  writeInteger(head, transaction, fieldOffsets.transaction);
  writeInteger(head, group, fieldOffsets.group);
  head.writeUInt32LE(crc32(value, crc32(head.subarray(fieldOffsets.length))), fieldOffsets.crc);
};

/**
 * The result of parsing a position of a buffer: a record, the beginning of a record that continues after the end of the
 * buffer, or bytes that are not a record.
 */
export type ParseResult =
  | { readonly kind: 'record'; readonly length: number; readonly valueLength: number; readonly offset: number }
  | { readonly kind: 'short'; readonly needed: number }
  | { readonly kind: 'bad'; readonly reason: string };

export const invalidRecord = (reason: string) => ({ kind: 'bad', reason }) as const;

/** Parses the head only; `hasValidChecksum` checks the rest. */
export const parseHeader = (buffer: Buffer, position: number): ParseResult => {
  const remaining = buffer.length - position;
  if (remaining < headBytes) return { kind: 'short', needed: headBytes };
  if (buffer.readUInt32LE(position) !== magicNumber) return invalidRecord('it does not begin like a record');
  const length = buffer.readUInt32LE(position + fieldOffsets.length);
  const valueLength = buffer.readUInt32LE(position + fieldOffsets.valueLength);
  const totalLength =
    headBytes +
    valueLength +
    buffer.readUInt32LE(position + fieldOffsets.headersLength) +
    buffer.readUInt32LE(position + fieldOffsets.keyLength);
  if (length !== totalLength || length > maxRecordBytes) return invalidRecord('its lengths contradict each other');
  if (remaining < length) return { kind: 'short', needed: length };
  return { kind: 'record', length, valueLength, offset: readInteger(buffer, position + fieldOffsets.offset) };
};

/** Whether the record of this length at this position matches its stored checksum. */
export const hasValidChecksum = (buffer: Buffer, position: number, length: number): boolean =>
  crc32(buffer.subarray(position + fieldOffsets.length, position + length)) ===
  buffer.readUInt32LE(position + fieldOffsets.crc);

export const readStamp = (buffer: Buffer, position: number): Stamp => ({
  offset: readInteger(buffer, position + fieldOffsets.offset),
  timestampMs: readInteger(buffer, position + fieldOffsets.timestamp),
  transaction: readInteger(buffer, position + fieldOffsets.transaction),
  group: readInteger(buffer, position + fieldOffsets.group),
});

/** Returns the record as consumers see it; its value is a view of the buffer. */
export const decodeRecord = (buffer: Buffer, position: number): BusRecord => {
  const keyLength = buffer.readUInt32LE(position + fieldOffsets.keyLength);
  const headersLength = buffer.readUInt32LE(position + fieldOffsets.headersLength);
  const keyStart = position + headBytes;
  const headersStart = keyStart + keyLength;
  const valueStart = headersStart + headersLength;
  return {
    offset: readInteger(buffer, position + fieldOffsets.offset),
    timestampMs: readInteger(buffer, position + fieldOffsets.timestamp),
    key: buffer.toString('utf8', keyStart, headersStart),
    value: buffer.subarray(valueStart, valueStart + buffer.readUInt32LE(position + fieldOffsets.valueLength)),
    headers:
      headersLength === 0
        ? {}
        : (JSON.parse(buffer.toString('utf8', headersStart, valueStart)) as Record<string, string>),
  };
};
