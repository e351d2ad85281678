/** Encodes the items of a message that a header names, as ranges: `0-3,7`. */

/** `ordinals` ascend. */
export const encodeOrdinals = (ordinals: readonly number[]): string => {
  const ranges: string[] = [];
  let first = -1;
  let last = -1;
  const close = (): void => {
    if (first >= 0) ranges.push(first === last ? String(first) : `${first}-${last}`);
  };
  for (const ordinal of ordinals) {
    if (ordinal !== last + 1 || first < 0) {
      close();
      first = ordinal;
    }
    last = ordinal;
  }
  close();
  return ranges.join(',');
};

/** Returns a predicate for the items that a message's `only-ordinals` header names; undefined for all items. */
export const onlyOrdinals = (header: string | undefined): ((ordinal: number) => boolean) | undefined => {
  if (header === undefined) return undefined;
  const ranges = header.split(',').map((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return { first, last };
  });
  return (ordinal) => ranges.some(({ first, last }) => ordinal >= first && ordinal <= last);
};
