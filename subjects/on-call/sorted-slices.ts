/** Sorted, disjoint time slices, each with the value that is valid in it */

export interface TimeSlice<T> {
  readonly fromMs: number;
  /** End, exclusive */
  readonly toMs: number;
  readonly value: T;
}

/** Returns a reader of values at ascending times; it returns `undefined` between slices. */
export const createReader = <T>(slices: readonly TimeSlice<T>[]): ((atMs: number) => T | undefined) => {
  let nextIndex = 0;
  return (atMs) => {
    while (nextIndex < slices.length && (slices[nextIndex]?.toMs ?? 0) <= atMs) nextIndex += 1;
    const slice = slices[nextIndex];
    return slice !== undefined && slice.fromMs <= atMs ? slice.value : undefined;
  };
};

/** Splits a range at these times, and evaluates each slice once. Adjacent slices with equal values are merged. */
export const splitRange = <T>(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  splitTimes: Iterable<number>,
  valueAt: (atMs: number) => T,
  areEqual: (left: T, right: T) => boolean,
): TimeSlice<T>[] => {
  const timesInRange = [...new Set(splitTimes)]
    .filter((atMs) => atMs > fromMs && atMs < toMs)
    .sort((left, right) => left - right);
  const starts = [fromMs, ...timesInRange];
  const slices: TimeSlice<T>[] = [];
  for (const [index, startMs] of starts.entries()) {
    const endMs = starts[index + 1] ?? toMs;
    const value = valueAt(startMs);
    const last = slices.at(-1);
    if (last !== undefined && areEqual(last.value, value)) slices[slices.length - 1] = { ...last, toMs: endMs };
    else slices.push({ fromMs: startMs, toMs: endMs, value });
  }
  return slices;
};
