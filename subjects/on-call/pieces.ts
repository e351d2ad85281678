/** Sorted, disjoint time slices, each with the value that is valid in it */

export interface TimeSlice<T> {
  readonly fromMs: number;
  /** End, exclusive */
  readonly toMs: number;
  readonly value: T;
}

/** Returns a reader of values at ascending times; it returns `undefined` between pieces. */
export const createReader = <T>(pieces: readonly TimeSlice<T>[]): ((atMs: number) => T | undefined) => {
  let next = 0;
  return (atMs) => {
    while (next < pieces.length && (pieces[next]?.toMs ?? 0) <= atMs) next += 1;
    const piece = pieces[next];
    return piece !== undefined && piece.fromMs <= atMs ? piece.value : undefined;
  };
};

/** Cuts a range at these times, and evaluates each piece once. Adjacent pieces with equal values are merged. */
export const splitRange = <T>(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  splitTimes: Iterable<number>,
  valueAt: (atMs: number) => T,
  areEqual: (one: T, other: T) => boolean,
): TimeSlice<T>[] => {
  const timesInRange = [...new Set(splitTimes)]
    .filter((atMs) => atMs > fromMs && atMs < toMs)
    .sort((one, other) => one - other);
  const starts = [fromMs, ...timesInRange];
  const pieces: TimeSlice<T>[] = [];
  for (const [index, startMs] of starts.entries()) {
    const endMs = starts[index + 1] ?? toMs;
    const value = valueAt(startMs);
    const last = pieces.at(-1);
    if (last !== undefined && areEqual(last.value, value)) pieces[pieces.length - 1] = { ...last, toMs: endMs };
    else pieces.push({ fromMs: startMs, toMs: endMs, value });
  }
  return pieces;
};
