/** Returns the bytes of a trace or span ID in hexadecimal; undefined for a text that is not one of that size. */
export const parseHexId = (text: string | undefined, bytes: number): Buffer | undefined =>
  text?.length === bytes * 2 && /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex') : undefined;
