/** Findings as records for queries, alert rules and dashboards. */
import { findingSeverities, type VulnerabilityRecord } from '../../schemas/vulnerability-findings.ts';
import { type AssessContext, assessFinding, type Decisions, resolveFindingState } from './assess.ts';
import type { MergedFinding } from './findings.ts';
import { findStatements } from './inventory.ts';

const maxListed = 100;
const dayMs = 86_400_000;

const severityAliases: Readonly<Record<string, string>> = {
  moderate: 'medium',
  important: 'high',
  minimal: 'negligible',
};

const findHighestSeverity = ({ sources }: MergedFinding): VulnerabilityRecord['severity'] => {
  const ranks = sources.map(({ severity }) =>
    (findingSeverities as readonly string[]).indexOf(severityAliases[severity] ?? severity),
  );
  return findingSeverities[Math.max(0, ...ranks)] ?? '';
};

/** Returns whether a finding is recorded: it is open, or was fixed in the last day. */
export const isRecorded = ({ fixedMs }: MergedFinding, nowMs: number): boolean =>
  fixedMs === null || fixedMs > nowMs - dayMs;

export type RecordContext = AssessContext & Decisions;

/** Returns the state of a finding as a record. */
export const toRecord = (
  finding: MergedFinding,
  context: RecordContext,
): Omit<VulnerabilityRecord, 'tenantId' | 'timeMs'> => {
  const { inventory, runningTargets } = context;
  const { priority, score, isKnownExploited, running } = assessFinding(finding, context);
  const details = finding.sources.map((source) => source.finding);
  return {
    findingId: finding.id,
    vulnerability: finding.vulnerability,
    aliases: finding.aliases.slice(0, maxListed),
    title: details.find(({ title }) => title !== '')?.title ?? '',
    package: finding.package.name,
    version: finding.package.version,
    ecosystem: finding.package.ecosystem,
    targetId: finding.target.id,
    target: finding.target.name,
    targetKind: finding.target.kind,
    location: finding.location,
    scanners: [...new Set(finding.sources.map(({ scanner }) => scanner))],
    status: finding.isOpen ? 'open' : 'fixed',
    state: resolveFindingState(finding, context).state,
    severity: findHighestSeverity(finding),
    priority,
    score,
    exploited: isKnownExploited === null ? 'unknown' : isKnownExploited ? 'yes' : 'no',
    running,
    services: runningTargets.getServices(finding.target).slice(0, maxListed),
    fixedVersions: [...new Set(details.flatMap(({ fixedVersions }) => fixedVersions))].slice(0, maxListed),
    vex: findStatements(inventory, finding)[0]?.status ?? '',
    firstMs: finding.firstMs,
  };
};
