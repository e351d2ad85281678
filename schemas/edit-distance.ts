/** Edit distance between two texts. */

/** Returns the Levenshtein distance. Stores one row of numbers. */
export const computeEditDistance = (left: string, right: string): number => {
  const row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const character = left.charCodeAt(i - 1);
    // The left neighbor in the previous row.
    let diagonal = i - 1;
    let last = i;
    row[0] = i;
    for (let j = 1; j <= right.length; j++) {
      const above = row[j] as number;
      const substitution = character === right.charCodeAt(j - 1) ? diagonal : diagonal + 1;
      last = Math.min(substitution, above + 1, last + 1);
      diagonal = above;
      row[j] = last;
    }
  }
  return row[right.length] as number;
};
