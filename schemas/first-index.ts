/** The first index below `count` for which it holds, where it holds for all behind that one as well; `count` where it holds for none. */
export const firstIndex = (count: number, holds: (index: number) => boolean): number => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};
