/** Priority of a finding: the sum of its factors, each of which is shown. Unknown factors count as much as average ones. */
import { computeCvssScore } from './cvss.ts';
import type { MergedFinding } from './findings.ts';

export const priorityFactors = ['known-exploited', 'epss', 'cvss', 'fix-available', 'running', 'process'] as const;
export const priorities = ['critical', 'high', 'medium', 'low'] as const;
export type Priority = (typeof priorities)[number];

export interface PriorityFactor {
  readonly factor: (typeof priorityFactors)[number];
  /** Value as shown; null if it is unknown */
  readonly value: string | null;
  readonly points: number;
  readonly maxPoints: number;
}

/** What is known outside of reports */
export interface ExploitationFacts {
  readonly epss: ReadonlyMap<string, number>;
  /** Undefined without a catalog */
  readonly exploited: ReadonlySet<string> | undefined;
}

/** Whether a target runs; undefined if telemetry does not tell */
export type RunningState = 'exposed' | 'running' | 'not-running' | undefined;

/** Whether what a finding is about runs */
export interface RunningEvidence {
  readonly target: RunningState;
  /** Name of a process of the package; undefined if none was seen, as for libraries, which run in other processes */
  readonly process: string | undefined;
}

export interface AssessedPriority {
  readonly priority: Priority;
  readonly score: number;
  readonly cvss: number | null;
  readonly cvssVector: string | null;
  readonly epss: number | null;
  readonly isKnownExploited: boolean | null;
  readonly factors: readonly PriorityFactor[];
}

const maxPoints = { 'known-exploited': 35, epss: 15, cvss: 30, 'fix-available': 5, running: 10, process: 5 } as const;
const thresholds: readonly (readonly [Priority, number])[] = [
  ['critical', 65],
  ['high', 45],
  ['medium', 25],
];

/** Scores in place of a vector, by the severity that a scanner reports */
const severityScores: Readonly<Record<string, number>> = {
  critical: 9.5,
  high: 8,
  medium: 5.5,
  moderate: 5.5,
  low: 2.5,
  negligible: 1,
};
const averageScore = 6;
/** Shares of unknown factors, about those of an average vulnerability */
const unknownExploitedShare = 0.1;
const unknownEpssShare = 0.3;

/** Returns the highest recomputed score of the vectors of all scanners, of the newest version of CVSS. */
const findHighestScore = ({
  sources,
}: MergedFinding): { readonly score: number; readonly vector: string } | undefined => {
  let highest: { score: number; vector: string; rank: number } | undefined;
  for (const { finding } of sources)
    for (const { vector } of finding.vectors) {
      const score = computeCvssScore(vector);
      if (score === undefined) continue;
      // CVSS 2 counts only without a later version.
      const rank = vector.startsWith('CVSS:') ? 1 : 0;
      if (highest === undefined || rank > highest.rank || (rank === highest.rank && score > highest.score))
        highest = { score, vector, rank };
    }
  return highest;
};

const toPoints = (factor: keyof typeof maxPoints, share: number): number =>
  Math.round(maxPoints[factor] * share * 10) / 10;

const runningShares: Readonly<Record<string, number>> = { exposed: 1, running: 0.8, 'not-running': 0, unknown: 0.5 };

const createFactor = (factor: keyof typeof maxPoints, value: string | null, share: number): PriorityFactor => ({
  factor,
  value,
  points: toPoints(factor, share),
  maxPoints: maxPoints[factor],
});

const formatExploited = (isKnownExploited: boolean | null): string | null =>
  isKnownExploited === null ? null : isKnownExploited ? 'yes' : 'no';

const findKnownExploited = (
  ids: readonly string[],
  { sources }: MergedFinding,
  exploited: ReadonlySet<string> | undefined,
): boolean | null => {
  if (sources.some(({ finding }) => finding.isKnownExploited) || ids.some((id) => exploited?.has(id))) return true;
  return exploited === undefined ? null : false;
};

/** Returns the imported probability, or else the highest that a scanner reports; null if none is known. */
const findEpss = (
  ids: readonly string[],
  { sources }: MergedFinding,
  scores: ReadonlyMap<string, number>,
): number | null => {
  const imported = ids.flatMap((id) => scores.get(id) ?? []);
  const known = imported.length > 0 ? imported : sources.flatMap(({ finding }) => finding.epss ?? []);
  return known.length === 0 ? null : Math.max(...known);
};

const createCvssFactor = (cvss: number | null, { sources }: MergedFinding): PriorityFactor => {
  if (cvss !== null) return createFactor('cvss', String(cvss), cvss / 10);
  const reportedScore = Math.max(0, ...sources.map(({ severity }) => severityScores[severity] ?? 0));
  if (reportedScore > 0) return createFactor('cvss', 'severity only', reportedScore / 10);
  return createFactor('cvss', null, averageScore / 10);
};

const createProcessFactor = (running: RunningState, process: string | undefined): PriorityFactor => {
  if (process !== undefined) return createFactor('process', process, 1);
  return running === 'not-running' ? createFactor('process', 'no', 0) : createFactor('process', null, 0.5);
};

/** Priorities of findings of an inventory, which is in memory while it does not change */
const assessments = new WeakMap<ExploitationFacts, WeakMap<MergedFinding, Map<string, AssessedPriority>>>();

/** Returns the priority of a finding of an inventory, computed once for each evidence. */
export const assessPriority = (
  finding: MergedFinding,
  facts: ExploitationFacts,
  evidence: RunningEvidence,
): AssessedPriority => {
  const byFinding = assessments.get(facts) ?? new WeakMap<MergedFinding, Map<string, AssessedPriority>>();
  assessments.set(facts, byFinding);
  const byState = byFinding.get(finding) ?? new Map<string, AssessedPriority>();
  byFinding.set(finding, byState);
  const key = `${evidence.target} ${evidence.process ?? ''}`;
  const assessed = byState.get(key) ?? computePriority(finding, facts, evidence);
  byState.set(key, assessed);
  return assessed;
};

const computePriority = (
  finding: MergedFinding,
  { epss: epssScores, exploited }: ExploitationFacts,
  { target: running, process }: RunningEvidence,
): AssessedPriority => {
  const ids = [finding.vulnerability, ...finding.aliases];
  const isKnownExploited = findKnownExploited(ids, finding, exploited);
  const epss = findEpss(ids, finding, epssScores);
  const highest = findHighestScore(finding);
  const cvss = highest?.score ?? null;
  const fixedVersions = [...new Set(finding.sources.flatMap((source) => source.finding.fixedVersions))];
  const factors = [
    createFactor(
      'known-exploited',
      formatExploited(isKnownExploited),
      isKnownExploited === null ? unknownExploitedShare : Number(isKnownExploited),
    ),
    // The square root spreads low probabilities, of which nearly all vulnerabilities have one.
    createFactor('epss', epss === null ? null : String(epss), epss === null ? unknownEpssShare : Math.sqrt(epss)),
    createCvssFactor(cvss, finding),
    createFactor('fix-available', fixedVersions.join(', ') || 'no', Number(fixedVersions.length > 0)),
    createFactor('running', running ?? null, runningShares[running ?? 'unknown'] ?? 0),
    createProcessFactor(running, process),
  ];
  const score = Math.round(factors.reduce((sum, { points }) => sum + points, 0) * 10) / 10;
  const priority = thresholds.find(([, min]) => score >= min)?.[0] ?? 'low';
  return { priority, score, cvss, cvssVector: highest?.vector ?? null, epss, isKnownExploited, factors };
};
