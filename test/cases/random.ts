/** Pseudorandom numbers, the same for the same seed: Mulberry32. */

/** Returns a number from 0 to 1, excluding 1. */
export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export type Random = (below: number) => number;

/** Returns an integer from 0 to below a limit. */
export const seeded = (seed: number): Random => {
  const random = randomOf(seed);
  return (below) => Math.floor(random() * below);
};
