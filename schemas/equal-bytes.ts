/**
 * Returns whether the bytes from `start` equal `expected`. Compares the last byte first, because keys mostly share a
 * prefix.
 */
export const equalsAt = (bytes: Uint8Array, start: number, expected: Uint8Array): boolean => {
  for (let index = expected.length - 1; index >= 0; index--) if (bytes[start + index] !== expected[index]) return false;
  return true;
};

/** Returns whether the bytes from `start` equal `expected`, which is in lower case, if ASCII letters have no case. */
export const equalsIgnoringCaseAt = (bytes: Uint8Array, start: number, expected: Uint8Array): boolean => {
  for (let index = expected.length - 1; index >= 0; index--) {
    const byte = bytes[start + index] as number;
    const lowerCase = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (lowerCase !== expected[index]) return false;
  }
  return true;
};
