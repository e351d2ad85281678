/** Merges concurrent changes of the same dashboard into one document */
import type { DashboardFields as Document } from '../../../../subjects/dashboards/document.ts';

/** A part that both users changed differently */
export interface Conflict {
  /** Key such as `panels errors` or `name` */
  readonly key: string;
  /** Description such as `panel “Errors”` */
  readonly what: string;
}

type Keyed = 'panels' | 'sections' | 'variables' | 'annotations';
const lists: Readonly<Record<Keyed, string>> = {
  panels: 'panel',
  sections: 'section',
  variables: 'variable',
  annotations: 'annotation',
};
const isKeyed = (name: string): name is Keyed => name in lists;

/** Compares independently of key order. */
const written = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  ) ?? '';
const isSame = (one: unknown, other: unknown): boolean => written(one) === written(other);

interface Versions<Value> {
  readonly base: Value;
  readonly mine: Value;
  readonly theirs: Value;
}
type Choose = (key: string, what: string) => 'mine' | 'theirs';

const one = <Value>({ base, mine, theirs }: Versions<Value>, choose: () => 'mine' | 'theirs'): Value => {
  if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  return choose() === 'mine' ? mine : theirs;
};

type Member = Readonly<Record<string, unknown>>;
const idOf = (member: Member): string => String(member['id'] ?? member['name']);
const byId = (members: readonly Member[]): ReadonlyMap<string, Member> =>
  new Map(members.map((member) => [idOf(member), member]));

type Ids = Pick<ReadonlyMap<string, unknown>, 'keys' | 'has'>;

/** Returns whether the remaining items have another order. */
const isMoved = (base: Ids, now: Ids): boolean =>
  !isSame(
    [...base.keys()].filter((id) => now.has(id)),
    [...now.keys()].filter((id) => base.has(id)),
  );

/** Returns my order, unless only the other user moved items, followed by items that it lacks. */
const orderOf = (base: Ids, mine: Ids, theirs: Ids): ReadonlySet<string> => {
  const isTheirs = isMoved(base, theirs) && !isMoved(base, mine);
  return new Set(isTheirs ? [...theirs.keys(), ...mine.keys()] : [...mine.keys(), ...theirs.keys()]);
};

const list = (name: Keyed, { base, mine, theirs }: Versions<readonly Member[]>, choose: Choose): Member[] => {
  const [before, own, others] = [byId(base), byId(mine), byId(theirs)];
  return [...orderOf(before, own, others)].flatMap((id) => {
    const versions = { base: before.get(id), mine: own.get(id), theirs: others.get(id) };
    const member = versions.mine ?? versions.theirs;
    const title = String(member?.['title'] || member?.['name'] || id);
    const chosen = one(versions, () => choose(`${name} ${id}`, `${lists[name]} “${title}”`));
    return chosen === undefined ? [] : [chosen];
  });
};

/**
 * Returns the document with both changes, and the conflicts. `choices` selects whose version wins in a conflict;
 * default: mine.
 */
export const merged = (
  { base, mine, theirs }: Versions<Document>,
  choices: Readonly<Record<string, 'mine' | 'theirs'>> = {},
): { readonly document: Document; readonly conflicts: readonly Conflict[] } => {
  const conflicts: Conflict[] = [];
  const choose: Choose = (key, what) => {
    conflicts.push({ key, what });
    return choices[key] ?? 'mine';
  };
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]) as Set<keyof Document & string>;
  const fields = [...names].map((name) => {
    const versions = { base: base[name], mine: mine[name], theirs: theirs[name] };
    if (isKeyed(name)) return [name, list(name, versions as unknown as Versions<readonly Member[]>, choose)];
    return [name, one<unknown>(versions, () => choose(name, name))];
  });
  return { document: Object.fromEntries(fields) as Document, conflicts };
};
