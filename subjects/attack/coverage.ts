/** Which techniques of ATT&CK an organization's rules are about, and which of them have been seen to work. */
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

/** A rule as coverage sees it. */
export interface CoveringRule {
  readonly id: string;
  readonly source: string;
  readonly enabled: boolean;
  /** It has events that it must match. */
  readonly isTested: boolean;
  /** Whether the telemetry that it needs was seen; null where that is not known. */
  readonly isSeen: boolean | null;
}

export interface Covered {
  readonly rules: number;
  readonly enabledRules: number;
  readonly testedRules: number;
  /** Rules whose telemetry was seen in the range, and those of which that is not known. */
  readonly seenRules: number;
  readonly unknownRules: number;
  /** Of the range, of its rules. */
  readonly signals: number;
}

export interface TechniqueCoverage extends Covered {
  readonly technique: Technique;
  readonly subtechniques: readonly TechniqueCoverage[];
}

export interface Coverage {
  readonly tactics: readonly { readonly tactic: Tactic; readonly techniques: readonly TechniqueCoverage[] }[];
  /** Ids that rules name and the matrix has no more, or never had. */
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

/** Tags stand in a rule's text as words of their own; what is no technique among them is left out. */
const techniquesNamed = (source: string): readonly string[] => [
  ...new Set(attackTagsOf(source.match(/\battack\.t\d{4}(?:\.\d{3})?\b/gi) ?? []).techniques),
];

/** A rule about a sub-technique is about its technique as well. */
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
