/**
 * The Enterprise matrix of MITRE ATT&CK: tactics, techniques and what replaced those that are no longer in it. The table is made
 * from MITRE's data (version and notice stand in `enterprise.json`; how it was made, in README.md).
 */
import table from './enterprise.json' with { type: 'json' };

export interface Tactic {
  readonly id: string;
  /** As in tags of Sigma rules: `credential-access`. */
  readonly shortName: string;
  readonly name: string;
}

export interface Technique {
  /** `T1059`, or `T1059.001` of a sub-technique. */
  readonly id: string;
  readonly name: string;
  /** Short names, in the matrix' order. */
  readonly tactics: readonly string[];
}

export const attackVersion: string = table.version;
export const attackNotice: string = table.notice;
export const tactics: readonly Tactic[] = table.tactics;

/** By id, those of a technique behind it. */
export const techniques: ReadonlyMap<string, Technique> = new Map(
  (table.techniques as [string, string, string[]][]).map(([id, name, of]) => [id, { id, name, tactics: of }]),
);

const replaced = new Map<string, string | null>(Object.entries(table.replaced));

/** The technique that a sub-technique belongs to; its own id where it is none. */
export const parentOf = (id: string): string => id.split('.')[0] as string;

/**
 * What an id stands for today. `revoked`: another one took its place; `deprecated`: it went without one; `unknown`: the matrix never
 * had it, or has it from a later version on.
 */
export type TechniqueStatus =
  | { readonly status: 'current'; readonly technique: Technique }
  | { readonly status: 'revoked'; readonly by: Technique }
  | { readonly status: 'deprecated' }
  | { readonly status: 'unknown' };

/** Looks a technique up, `t1059.001` and `T1059.001` alike. */
export const techniqueStatusOf = (id: string): TechniqueStatus => {
  const written = id.toUpperCase();
  const technique = techniques.get(written);
  if (technique !== undefined) return { status: 'current', technique };
  const successor = replaced.get(written);
  if (successor === null) return { status: 'deprecated' };
  const by = successor === undefined ? undefined : techniques.get(successor);
  return by === undefined ? { status: 'unknown' } : { status: 'revoked', by };
};

/** Names of tactics that former versions had, with what stands for them today. */
const formerTactics = new Map([['defense-evasion', ['stealth', 'defense-impairment']]]);

/** Tactics that a tag names: of a former name all that it became; none of an unknown one. */
export const tacticsNamed = (shortName: string): readonly string[] => {
  const written = shortName.toLowerCase().replaceAll('_', '-');
  if (tactics.some((tactic) => tactic.shortName === written)) return [written];
  return formerTactics.get(written) ?? [];
};

/** What the tags of a rule say, each once: `attack.t1059.001`, `attack.execution`. Tags of groups, software and other namespaces are left out. */
export const attackTagsOf = (tags: readonly string[]): { techniques: string[]; tactics: string[] } => {
  const own = tags.filter((tag) => tag.toLowerCase().startsWith('attack.')).map((tag) => tag.slice('attack.'.length));
  return {
    techniques: [...new Set(own.filter((tag) => /^t\d{4}(?:\.\d{3})?$/i.test(tag)).map((tag) => tag.toUpperCase()))],
    tactics: [
      ...new Set(
        own.filter((tag) => tacticsNamed(tag).length > 0).map((tag) => tag.toLowerCase().replaceAll('_', '-')),
      ),
    ],
  };
};
