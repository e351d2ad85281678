/**
 * UTF-8 as protobuf requires it for `string` fields: no overlong forms, no surrogates, no code points above U+10FFFF.
 */
import { isUtf8 } from 'node:buffer';

/** From this length on, a call of the native check (about 50 ns) costs less than the loop with eight bytes per step. */
const minNativeBytes = 640;

/** Sequence length by first byte (0: invalid), and the bounds of the second byte. */
const sequenceLengths = new Uint8Array(256);
const minSecondBytes = new Uint8Array(256).fill(0x80);
const maxSecondBytes = new Uint8Array(256).fill(0xbf);
sequenceLengths.fill(1, 0x00, 0x80).fill(2, 0xc2, 0xe0).fill(3, 0xe0, 0xf0).fill(4, 0xf0, 0xf5);
minSecondBytes[0xe0] = 0xa0;
maxSecondBytes[0xed] = 0x9f;
minSecondBytes[0xf0] = 0x90;
maxSecondBytes[0xf4] = 0x8f;

/** Length of the sequence at `start`; 0 if it is invalid. */
const getSequenceLength = (bytes: Uint8Array, start: number, end: number): number => {
  const first = bytes[start] as number;
  const length = sequenceLengths[first] as number;
  if (length < 2) return length;
  if (start + length > end) return 0;
  const second = bytes[start + 1] as number;
  if (second < (minSecondBytes[first] as number) || second > (maxSecondBytes[first] as number)) return 0;
  for (let index = start + 2; index < start + length; index++) if ((bytes[index] as number) >> 6 !== 2) return 0;
  return length;
};

/**
 * Returns the position of the first invalid UTF-8 byte between `start` and `end`; -1 if there is none. `end` must be
 * within `bytes`.
 */
export const findInvalidUtf8 = (bytes: Uint8Array, start: number, end: number): number => {
  let position = start;
  while (position < end) {
    const length = getSequenceLength(bytes, position, end);
    if (length === 0) return position;
    position += length;
  }
  return -1;
};

/** Returns whether the bytes from `start` to `end` are UTF-8; fast for ASCII. `view` must cover all of `bytes`. */
export const isUtf8Range = (bytes: Uint8Array, view: DataView, start: number, end: number): boolean => {
  if (end - start >= minNativeBytes) return isUtf8(bytes.subarray(start, end));
  let position = start;
  let highBits = 0;
  for (; position + 8 <= end; position += 8)
    highBits |= view.getInt32(position, true) | view.getInt32(position + 4, true);
  highBits &= 0x80808080;
  while (position < end) highBits |= (bytes[position++] as number) & 0x80;
  return highBits === 0 || findInvalidUtf8(bytes, start, end) < 0;
};
