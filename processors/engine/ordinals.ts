/** Encodes the items of a message that a header names, as ranges: `0-3,7`. */

/** `ordinals` ascend. */
export const encodeOrdinals = (ordinals: readonly number[]): string => {
  const ranges: string[] = [];
  let rangeStart = -1;
  let rangeEnd = -1;
  const closeRange = (): void => {
    if (rangeStart >= 0) ranges.push(rangeStart === rangeEnd ? String(rangeStart) : `${rangeStart}-${rangeEnd}`);
  };
  for (const ordinal of ordinals) {
    if (ordinal !== rangeEnd + 1 || rangeStart < 0) {
      closeRange();
      rangeStart = ordinal;
    }
    rangeEnd = ordinal;
  }
  closeRange();
  return ranges.join(',');
};

/** Returns a predicate for the items that a message's `only-ordinals` header names; undefined for all items. */
export const parseOrdinalFilter = (header: string | undefined): ((ordinal: number) => boolean) | undefined => {
  if (header === undefined) return undefined;
  const ranges = header.split(',').map((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return { first, last };
  });
  return (ordinal) => ranges.some(({ first, last }) => ordinal >= first && ordinal <= last);
};
