/** Measures the grouping of lines against labels, and against another grouping of the same lines. */

/** The line numbers of each key. */
export const groupsOf = (keys: readonly string[]): Map<string, number[]> => {
  const groups = new Map<string, number[]>();
  for (const [line, key] of keys.entries()) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
  }
  return groups;
};

/** The share of lines whose group equals the group of their label. */
export const groupingAccuracy = (ids: readonly string[], labels: readonly string[]): number => {
  const truth = groupsOf(labels);
  let right = 0;
  for (const group of groupsOf(ids).values()) {
    const own = new Set(group.map((line) => labels[line] as string));
    const [label] = own;
    if (own.size === 1 && truth.get(label as string)?.length === group.length) right += group.length;
  }
  return right / ids.length;
};

/** Of the pairs of lines that share a group in either grouping, the share that does in both. */
export const samePairs = (left: readonly string[], right: readonly string[]): number => {
  const pairs = (keys: readonly string[]): number =>
    [...groupsOf(keys).values()].reduce((sum, { length }) => sum + (length * (length - 1)) / 2, 0);
  const both = pairs(left.map((id, line) => `${id} ${right[line]}`));
  const either = pairs(left) + pairs(right) - both;
  return either === 0 ? 1 : both / either;
};

/** Returns a shuffled copy, which is the same for the same seed. */
export const shuffled = (items: readonly number[], seed: number): number[] => {
  const out = [...items];
  let state = seed;
  for (let index = out.length - 1; index > 0; index--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    const other = state % (index + 1);
    [out[index], out[other]] = [out[other] as number, out[index] as number];
  }
  return out;
};
