/** Merges concurrent changes of the same dashboard into one document */
import type { DashboardFields as Document } from '../../../../subjects/dashboards/document.ts';

/** A field or list item that both users changed differently */
export interface Conflict {
  /** Key such as `panels errors` or `name` */
  readonly key: string;
  /** Description such as `panel “Errors”` */
  readonly description: string;
}

type ListField = 'panels' | 'sections' | 'variables' | 'annotations';
const itemNames: Readonly<Record<ListField, string>> = {
  panels: 'panel',
  sections: 'section',
  variables: 'variable',
  annotations: 'annotation',
};
const isListField = (name: string): name is ListField => name in itemNames;

/** Returns JSON with sorted keys, so that comparisons are independent of key order. */
const stableJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  ) ?? '';
const isSame = (left: unknown, right: unknown): boolean => stableJson(left) === stableJson(right);

interface Versions<Value> {
  readonly base: Value;
  readonly mine: Value;
  readonly theirs: Value;
}
type Choose = (key: string, description: string) => 'mine' | 'theirs';

const mergeValue = <Value>({ base, mine, theirs }: Versions<Value>, choose: () => 'mine' | 'theirs'): Value => {
  if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  return choose() === 'mine' ? mine : theirs;
};

type Member = Readonly<Record<string, unknown>>;
const getMemberId = (member: Member): string => String(member['id'] ?? member['name']);
const indexById = (members: readonly Member[]): ReadonlyMap<string, Member> =>
  new Map(members.map((member) => [getMemberId(member), member]));

type Ids = Pick<ReadonlyMap<string, unknown>, 'keys' | 'has'>;

/** Returns whether the items that both versions contain have a different order. */
const isReordered = (base: Ids, current: Ids): boolean =>
  !isSame(
    [...base.keys()].filter((id) => current.has(id)),
    [...current.keys()].filter((id) => base.has(id)),
  );

/** Returns the ids in my order, or in the other user's order if only that user reordered items. Missing ids are appended. */
const mergeOrder = (base: Ids, mine: Ids, theirs: Ids): ReadonlySet<string> => {
  const usesTheirOrder = isReordered(base, theirs) && !isReordered(base, mine);
  return new Set(usesTheirOrder ? [...theirs.keys(), ...mine.keys()] : [...mine.keys(), ...theirs.keys()]);
};

const mergeList = (name: ListField, { base, mine, theirs }: Versions<readonly Member[]>, choose: Choose): Member[] => {
  const [baseById, mineById, theirsById] = [indexById(base), indexById(mine), indexById(theirs)];
  return [...mergeOrder(baseById, mineById, theirsById)].flatMap((id) => {
    const versions = { base: baseById.get(id), mine: mineById.get(id), theirs: theirsById.get(id) };
    const member = versions.mine ?? versions.theirs;
    const title = String(member?.['title'] || member?.['name'] || id);
    const mergedMember = mergeValue(versions, () => choose(`${name} ${id}`, `${itemNames[name]} “${title}”`));
    return mergedMember === undefined ? [] : [mergedMember];
  });
};

/**
 * Returns the document with the changes of both users, and the conflicts. `choices` selects whose version wins;
 * default: mine.
 */
export const mergeDocuments = (
  { base, mine, theirs }: Versions<Document>,
  choices: Readonly<Record<string, 'mine' | 'theirs'>> = {},
): { readonly document: Document; readonly conflicts: readonly Conflict[] } => {
  const conflicts: Conflict[] = [];
  const choose: Choose = (key, description) => {
    conflicts.push({ key, description });
    return choices[key] ?? 'mine';
  };
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]) as Set<keyof Document & string>;
  const fields = [...names].map((name) => {
    const versions = { base: base[name], mine: mine[name], theirs: theirs[name] };
    if (isListField(name)) return [name, mergeList(name, versions as unknown as Versions<readonly Member[]>, choose)];
    return [name, mergeValue<unknown>(versions, () => choose(name, name))];
  });
  return { document: Object.fromEntries(fields) as Document, conflicts };
};
