import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** Returns a list without the members that another list contains. */
const excludeMembers = (list: readonly unknown[], afterValue: readonly unknown[]): readonly unknown[] => {
  const texts = new Set(afterValue.map((member) => JSON.stringify(member)));
  return list.filter((member) => !texts.has(JSON.stringify(member)));
};

/**
 * Returns two states of a dashboard in the form for comparison by the audit log. Lists contain only the members that
 * are not in both states, so that the record of a changed panel does not contain all panels twice.
 */
export const selectDifferences = <Document extends object>(
  before: Document,
  after: Document,
): { readonly before: object; readonly after: object } => {
  const [left, right] = [{ ...before } as Record<string, unknown>, { ...after } as Record<string, unknown>];
  for (const [name, value] of Object.entries(before as Fields)) {
    const afterValue = (after as Fields)[name];
    if (!Array.isArray(value) || !Array.isArray(afterValue) || isDeepStrictEqual(value, afterValue)) continue;
    const [removedMembers, addedMembers] = [excludeMembers(value, afterValue), excludeMembers(afterValue, value)];
    // If only the order of the members differs, both lists are recorded completely.
    if (removedMembers.length + addedMembers.length === 0) continue;
    left[name] = removedMembers;
    right[name] = addedMembers;
  }
  return { before: left, after: right };
};
