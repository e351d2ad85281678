/** ATT&CK coverage: techniques covered by an organization's rules, and whether these work. */
import {
  findTechniqueStatus,
  getParentTechnique,
  parseAttackTags,
  type Tactic,
  type Technique,
  type TechniqueStatus,
  tactics,
  techniques,
} from './matrix.ts';

/** A rule with the data relevant for coverage. */
export interface CoveringRule {
  readonly id: string;
  readonly source: string;
  readonly enabled: boolean;
  /** Whether the rule has test events that it must match. */
  readonly isTested: boolean;
  /** Whether the required telemetry was received; null if unknown. */
  readonly isSeen: boolean | null;
}

export interface RuleCounts {
  readonly rules: number;
  readonly enabledRules: number;
  readonly testedRules: number;
  /** Rules with telemetry in the range, and rules for which that is unknown. */
  readonly seenRules: number;
  readonly unknownRules: number;
  /** Number of signals of the rules in the range. */
  readonly signals: number;
}

export interface TechniqueCoverage extends RuleCounts {
  readonly technique: Technique;
  readonly subtechniques: readonly TechniqueCoverage[];
}

export interface Coverage {
  readonly tactics: readonly { readonly tactic: Tactic; readonly techniques: readonly TechniqueCoverage[] }[];
  /** IDs in rules that the matrix no longer contains, or never contained. */
  readonly others: readonly {
    readonly id: string;
    readonly status: Exclude<TechniqueStatus, { status: 'current' }>;
    readonly rules: number;
  }[];
}

const noRules: RuleCounts = {
  rules: 0,
  enabledRules: 0,
  testedRules: 0,
  seenRules: 0,
  unknownRules: 0,
  signals: 0,
};

/** Returns the techniques whose tags occur as words in a rule's text. */
const findTechniques = (source: string): readonly string[] => [
  ...new Set(parseAttackTags(source.match(/\battack\.t\d{4}(?:\.\d{3})?\b/gi) ?? []).techniques),
];

/** Returns the coverage of techniques. A rule for a sub-technique also covers its technique. */
export const computeCoverage = (rules: Iterable<CoveringRule>, signals: ReadonlyMap<string, number>): Coverage => {
  const countsById = new Map<string, RuleCounts>();
  const add = (id: string, rule: CoveringRule): void => {
    const counts = countsById.get(id) ?? noRules;
    countsById.set(id, {
      rules: counts.rules + 1,
      enabledRules: counts.enabledRules + (rule.enabled ? 1 : 0),
      testedRules: counts.testedRules + (rule.isTested ? 1 : 0),
      seenRules: counts.seenRules + (rule.isSeen === true ? 1 : 0),
      unknownRules: counts.unknownRules + (rule.isSeen === null ? 1 : 0),
      signals: counts.signals + (signals.get(rule.id) ?? 0),
    });
  };
  for (const rule of rules) {
    const taggedTechniques = findTechniques(rule.source);
    for (const id of new Set(
      taggedTechniques.flatMap((techniqueId) =>
        techniques.has(techniqueId) ? [techniqueId, getParentTechnique(techniqueId)] : [techniqueId],
      ),
    ))
      add(id, rule);
  }
  const allTechniques = [...techniques.values()];
  const toTechniqueCoverage = (technique: Technique): TechniqueCoverage => ({
    ...(countsById.get(technique.id) ?? noRules),
    technique,
    subtechniques: allTechniques.filter(({ id }) => id.startsWith(`${technique.id}.`)).map(toTechniqueCoverage),
  });
  const topTechniques = allTechniques.filter(({ id }) => getParentTechnique(id) === id).map(toTechniqueCoverage);
  return {
    tactics: tactics.map((tactic) => ({
      tactic,
      techniques: topTechniques.filter(({ technique }) => technique.tactics.includes(tactic.shortName)),
    })),
    others: [...countsById].flatMap(([id, { rules: count }]) => {
      const techniqueStatus = findTechniqueStatus(id);
      return techniqueStatus.status === 'current' ? [] : [{ id, status: techniqueStatus, rules: count }];
    }),
  };
};
