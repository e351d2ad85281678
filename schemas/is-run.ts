/** Whether that many bytes from `start` are `wanted`. Keys mostly begin alike, so that the last byte is looked at first. */
export const isRun = (bytes: Uint8Array, start: number, expected: Uint8Array): boolean => {
  for (let index = expected.length - 1; index >= 0; index--) if (bytes[start + index] !== expected[index]) return false;
  return true;
};
