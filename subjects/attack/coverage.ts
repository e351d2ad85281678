/** ATT&CK coverage: techniques covered by an organization's rules, and whether these work. */
import {
  attackTagsOf,
  parentOf,
  type Tactic,
  type Technique,
  type TechniqueStatus,
  tactics,
  techniqueStatusOf,
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

export interface Covered {
  readonly rules: number;
  readonly enabledRules: number;
  readonly testedRules: number;
  /** Rules with telemetry in the range, and rules for which that is unknown. */
  readonly seenRules: number;
  readonly unknownRules: number;
  /** Number of signals of the rules in the range. */
  readonly signals: number;
}

export interface TechniqueCoverage extends Covered {
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

const nothing: Covered = {
  rules: 0,
  enabledRules: 0,
  testedRules: 0,
  seenRules: 0,
  unknownRules: 0,
  signals: 0,
};

/** Tags are separate words in a rule's text. Tags that are not techniques are omitted. */
const techniquesNamed = (source: string): readonly string[] => [
  ...new Set(attackTagsOf(source.match(/\battack\.t\d{4}(?:\.\d{3})?\b/gi) ?? []).techniques),
];

/** Returns the coverage of techniques. A rule for a sub-technique also covers its technique. */
export const coverageOf = (rules: Iterable<CoveringRule>, signals: ReadonlyMap<string, number>): Coverage => {
  const found = new Map<string, Covered>();
  const add = (id: string, rule: CoveringRule): void => {
    const known = found.get(id) ?? nothing;
    found.set(id, {
      rules: known.rules + 1,
      enabledRules: known.enabledRules + (rule.enabled ? 1 : 0),
      testedRules: known.testedRules + (rule.isTested ? 1 : 0),
      seenRules: known.seenRules + (rule.isSeen === true ? 1 : 0),
      unknownRules: known.unknownRules + (rule.isSeen === null ? 1 : 0),
      signals: known.signals + (signals.get(rule.id) ?? 0),
    });
  };
  for (const rule of rules) {
    const named = techniquesNamed(rule.source);
    for (const id of new Set(named.flatMap((each) => (techniques.has(each) ? [each, parentOf(each)] : [each]))))
      add(id, rule);
  }
  const all = [...techniques.values()];
  const shown = (technique: Technique): TechniqueCoverage => ({
    ...(found.get(technique.id) ?? nothing),
    technique,
    subtechniques: all.filter(({ id }) => id.startsWith(`${technique.id}.`)).map(shown),
  });
  const top = all.filter(({ id }) => parentOf(id) === id).map(shown);
  return {
    tactics: tactics.map((tactic) => ({
      tactic,
      techniques: top.filter(({ technique }) => technique.tactics.includes(tactic.shortName)),
    })),
    others: [...found].flatMap(([id, { rules: count }]) => {
      const techniqueStatus = techniqueStatusOf(id);
      return techniqueStatus.status === 'current' ? [] : [{ id, status: techniqueStatus, rules: count }];
    }),
  };
};
