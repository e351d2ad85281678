import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** A list without the members that another one has too. */
const without = (list: readonly unknown[], other: readonly unknown[]): readonly unknown[] => {
  const texts = new Set(other.map((member) => JSON.stringify(member)));
  return list.filter((member) => !texts.has(JSON.stringify(member)));
};

/**
 * Two states of a dashboard as the audit log compares them: lists hold only the members that are in one and not in the other, so that a
 * record of one panel does not hold them all twice.
 */
export const comparedDashboards = <Document extends object>(
  before: Document,
  after: Document,
): { readonly before: object; readonly after: object } => {
  const [left, right] = [{ ...before } as Record<string, unknown>, { ...after } as Record<string, unknown>];
  for (const [name, value] of Object.entries(before as Fields)) {
    const other = (after as Fields)[name];
    if (!Array.isArray(value) || !Array.isArray(other) || isDeepStrictEqual(value, other)) continue;
    const [removed, come] = [without(value, other), without(other, value)];
    // Of the same members in another order it is told in which.
    if (removed.length + come.length === 0) continue;
    left[name] = removed;
    right[name] = come;
  }
  return { before: left, after: right };
};
