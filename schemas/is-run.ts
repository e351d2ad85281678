/**
 * Returns whether the bytes from `start` equal `expected`. Compares the last byte first, because keys mostly share a
 * prefix.
 */
export const equalsAt = (bytes: Uint8Array, start: number, expected: Uint8Array): boolean => {
  for (let index = expected.length - 1; index >= 0; index--) if (bytes[start + index] !== expected[index]) return false;
  return true;
};
