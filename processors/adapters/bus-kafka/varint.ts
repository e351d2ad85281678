/** Unsigned varints, as Kafka has them. */

/** Answers where it ends. */
export const writeVarint = (into: Buffer, at: number, value: number): number => {
  let position = at;
  let rest = value;
  while (rest > 127) {
    into[position++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  into[position++] = rest;
  return position;
};
