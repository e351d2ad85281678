/**
 * The Enterprise matrix of MITRE ATT&CK: tactics, techniques and replacements of removed ones. The table is generated
 * from MITRE's data (`enterprise.json` contains version and notice, and README.md the procedure).
 */
import table from './enterprise.json' with { type: 'json' };

export interface Tactic {
  readonly id: string;
  /** Short name as in tags of Sigma rules: `credential-access`. */
  readonly shortName: string;
  readonly name: string;
}

export interface Technique {
  /** `T1059`, or `T1059.001` for a sub-technique. */
  readonly id: string;
  readonly name: string;
  /** Short names, in matrix order. */
  readonly tactics: readonly string[];
}

export const attackVersion: string = table.version;
export const attackNotice: string = table.notice;
export const tactics: readonly Tactic[] = table.tactics;

/** Techniques by ID, each followed by its sub-techniques. */
export const techniques: ReadonlyMap<string, Technique> = new Map(
  (table.techniques as [string, string, string[]][]).map(([id, name, tacticNames]) => [
    id,
    { id, name, tactics: tacticNames },
  ]),
);

const replacements = new Map<string, string | null>(Object.entries(table.replaced));

/** Returns the technique of a sub-technique, or the ID itself if it is a technique. */
export const getParentTechnique = (id: string): string => id.split('.')[0] as string;

/**
 * Current status of a technique ID. `revoked`: replaced by another; `deprecated`: removed without a replacement;
 * `unknown`: not in this or an earlier version of the matrix.
 */
export type TechniqueStatus =
  | { readonly status: 'current'; readonly technique: Technique }
  | { readonly status: 'revoked'; readonly by: Technique }
  | { readonly status: 'deprecated' }
  | { readonly status: 'unknown' };

/** Looks a technique up, ignoring case (`t1059.001`). */
export const findTechniqueStatus = (id: string): TechniqueStatus => {
  const normalizedId = id.toUpperCase();
  const technique = techniques.get(normalizedId);
  if (technique !== undefined) return { status: 'current', technique };
  const successor = replacements.get(normalizedId);
  if (successor === null) return { status: 'deprecated' };
  const by = successor === undefined ? undefined : techniques.get(successor);
  return by === undefined ? { status: 'unknown' } : { status: 'revoked', by };
};

/** Names of tactics in former versions, with their current replacements. */
const formerTactics = new Map([['defense-evasion', ['stealth', 'defense-impairment']]]);

/** Returns the tactics of a tag: for a former name all replacements, for an unknown name none. */
export const findTactics = (shortName: string): readonly string[] => {
  const normalizedName = shortName.toLowerCase().replaceAll('_', '-');
  if (tactics.some((tactic) => tactic.shortName === normalizedName)) return [normalizedName];
  return formerTactics.get(normalizedName) ?? [];
};

/**
 * Returns the distinct techniques and tactics of a rule's tags: `attack.t1059.001`, `attack.execution`. Tags of groups,
 * software and other namespaces are ignored.
 */
export const parseAttackTags = (tags: readonly string[]): { techniques: string[]; tactics: string[] } => {
  const attackTags = tags
    .filter((tag) => tag.toLowerCase().startsWith('attack.'))
    .map((tag) => tag.slice('attack.'.length));
  return {
    techniques: [
      ...new Set(attackTags.filter((tag) => /^t\d{4}(?:\.\d{3})?$/i.test(tag)).map((tag) => tag.toUpperCase())),
    ],
    tactics: [
      ...new Set(
        attackTags.filter((tag) => findTactics(tag).length > 0).map((tag) => tag.toLowerCase().replaceAll('_', '-')),
      ),
    ],
  };
};
