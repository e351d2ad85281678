/** One record as stored in a segment file. The README of this folder shows the byte layout. */
import { crc32 } from 'node:zlib';
import { PermanentError } from '../../schemas/errors.ts';
import { type BusRecord, type Message, recordsIn } from '../../schemas/ports/bus.ts';

/** "OIQ1", little endian; readers use it to find the next record after a damaged one. */
export const magic = Buffer.from('OIQ1');
const magicNumber = magic.readUInt32LE(0);
export const headBytes = 56;
/** Longer lengths indicate damage. */
const maxRecordBytes = 256 * 1024 * 1024;
const at = {
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

/** A message encoded for any offset: `stamp` writes the offset into it. The value is not copied. */
export interface Encoded {
  /** Fixed-size head, key and headers. */
  readonly head: Buffer;
  readonly value: Uint8Array;
  /** Number of telemetry records in the message */
  readonly weight: number;
}

export const encode = ({ key, value, headers }: Message): Encoded => {
  const keyLength = Buffer.byteLength(key);
  if (keyLength > 0xffff)
    throw new PermanentError('key-too-long', `a message key of ${keyLength} bytes is above 65535`);
  const json = Object.keys(headers).length === 0 ? '' : JSON.stringify(headers);
  const headersLength = Buffer.byteLength(json);
  const head = Buffer.allocUnsafe(headBytes + keyLength + headersLength);
  head.writeUInt32LE(magicNumber, 0);
  head.writeUInt32LE(head.length + value.length, at.length);
  head.writeUInt32LE(value.length, at.valueLength);
  head.writeUInt32LE(headersLength, at.headersLength);
  head.writeUInt32LE(keyLength, at.keyLength);
  head.write(key, headBytes);
  head.write(json, headBytes + keyLength);
  return { head, value, weight: recordsIn(headers) };
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
export const stamp = ({ head, value }: Encoded, { offset, timestampMs, transaction, group }: Stamp): void => {
  writeInteger(head, offset, at.offset);
  writeInteger(head, timestampMs, at.timestamp);
  writeInteger(head, transaction, at.transaction);
  writeInteger(head, group, at.group);
  head.writeUInt32LE(crc32(value, crc32(head.subarray(at.length))), at.crc);
};

/**
 * The result at a position of a buffer: a record, the beginning of a record that continues after the buffer, or
 * something else.
 */
export type Found =
  | { readonly kind: 'record'; readonly length: number; readonly valueLength: number; readonly offset: number }
  | { readonly kind: 'short'; readonly needed: number }
  | { readonly kind: 'bad'; readonly reason: string };

export const bad = (reason: string) => ({ kind: 'bad', reason }) as const;

/** Parses the head only; `verified` checks the rest. */
export const find = (buffer: Buffer, position: number): Found => {
  const left = buffer.length - position;
  if (left < headBytes) return { kind: 'short', needed: headBytes };
  if (buffer.readUInt32LE(position) !== magicNumber) return bad('it does not begin as a record does');
  const length = buffer.readUInt32LE(position + at.length);
  const valueLength = buffer.readUInt32LE(position + at.valueLength);
  const parts =
    headBytes +
    valueLength +
    buffer.readUInt32LE(position + at.headersLength) +
    buffer.readUInt32LE(position + at.keyLength);
  if (length !== parts || length > maxRecordBytes) return bad('its lengths contradict each other');
  if (left < length) return { kind: 'short', needed: length };
  return { kind: 'record', length, valueLength, offset: readInteger(buffer, position + at.offset) };
};

/** Whether the record of this length at this position matches its stored checksum. */
export const verified = (buffer: Buffer, position: number, length: number): boolean =>
  crc32(buffer.subarray(position + at.length, position + length)) === buffer.readUInt32LE(position + at.crc);

export const stampOf = (buffer: Buffer, position: number): Stamp => ({
  offset: readInteger(buffer, position + at.offset),
  timestampMs: readInteger(buffer, position + at.timestamp),
  transaction: readInteger(buffer, position + at.transaction),
  group: readInteger(buffer, position + at.group),
});

/** Returns the record as consumers see it; its value is a view of the buffer. */
export const decode = (buffer: Buffer, position: number): BusRecord => {
  const keyLength = buffer.readUInt32LE(position + at.keyLength);
  const headersLength = buffer.readUInt32LE(position + at.headersLength);
  const key = position + headBytes;
  const headers = key + keyLength;
  const value = headers + headersLength;
  return {
    offset: readInteger(buffer, position + at.offset),
    timestampMs: readInteger(buffer, position + at.timestamp),
    key: buffer.toString('utf8', key, headers),
    value: buffer.subarray(value, value + buffer.readUInt32LE(position + at.valueLength)),
    headers: headersLength === 0 ? {} : (JSON.parse(buffer.toString('utf8', headers, value)) as Record<string, string>),
  };
};
