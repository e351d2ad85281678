/**
 * Returns the first index below `count` for which `predicate` is true; `count` if there is none. `predicate` must be true for
 * all following indexes as well (binary search).
 */
export const findFirstIndex = (count: number, predicate: (index: number) => boolean): number => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (predicate(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};
