/** Findings with what decides filters and order: priority, whether they run, and decisions of users. */
import { mapInSlices } from '../../runtime/time-slices.ts';
import type { StoredTriage } from '../security/stored-triages.ts';
import { type ResolvedState, resolveState } from '../security/triage.ts';
import type { MergedFinding } from './findings.ts';
import type { Inventory } from './inventory.ts';
import { type AssessedPriority, assessPriority } from './priority.ts';
import type { RunningTargets } from './running-targets.ts';

/** Whether a target runs; `exposed` targets run behind a service that others call. */
export const runningStates = ['exposed', 'running', 'not-running', 'unknown'] as const;

export interface AssessedFinding extends AssessedPriority {
  readonly id: string;
  readonly finding: MergedFinding;
  readonly running: (typeof runningStates)[number];
}

export interface AssessContext {
  readonly inventory: Inventory;
  readonly runningTargets: RunningTargets;
}

/** Decisions of users, by finding */
export interface Decisions {
  readonly triages: ReadonlyMap<string, StoredTriage>;
  readonly nowMs: number;
}

/** Returns the decision about a finding, which may be stored under the id that the finding had with fewer aliases. */
export const findTriage = (
  { triages }: Pick<Decisions, 'triages'>,
  { id, formerIds }: MergedFinding,
): StoredTriage | undefined =>
  triages.size === 0
    ? undefined
    : [id, ...formerIds].map((key) => triages.get(key)).find((triage) => triage !== undefined);

/** Returns the time that reopens a resolved finding: when scanners reported it again. */
export const getReportedMs = ({ isOpen, lastMs }: MergedFinding): number => (isOpen ? lastMs : 0);

/** Returns the state of a finding by the decision about it. */
export const resolveFindingState = (finding: MergedFinding, decisions: Decisions): ResolvedState =>
  resolveState(findTriage(decisions, finding), getReportedMs(finding), decisions.nowMs);

/** Returns the process that has the name of the package: `nginx`, or `traefik` of `github.com/traefik/traefik`. */
const findProcess = ({ target, package: item }: MergedFinding, runningTargets: RunningTargets): string | undefined => {
  const processes = runningTargets.getProcesses(target);
  if (processes.size === 0) return undefined;
  const name = item.name.slice(Math.max(item.name.lastIndexOf('/'), item.name.lastIndexOf(':')) + 1).toLowerCase();
  return processes.has(name) ? name : undefined;
};

/** Returns a finding with its priority. */
export const assessFinding = (
  finding: MergedFinding,
  { inventory, runningTargets }: AssessContext,
): AssessedFinding => {
  const running = runningTargets.getState(finding.target);
  const process = findProcess(finding, runningTargets);
  return {
    ...assessPriority(finding, inventory.facts, { target: running, process }),
    id: finding.id,
    finding,
    running: running ?? 'unknown',
  };
};

/** The order of lists: the highest score first */
const compareScores = (left: AssessedFinding, right: AssessedFinding): number =>
  right.score - left.score || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);

/** Assessed findings of inventories, for the targets that ran then */
const assessments = new WeakMap<
  Inventory,
  { readonly running: string; readonly findings: Promise<readonly AssessedFinding[]> }
>();

/**
 * Returns all findings, the one with the highest score first, by id among equal ones. They are assessed once while
 * neither the inventory nor what runs changes.
 */
export const assessFindings = (context: AssessContext): Promise<readonly AssessedFinding[]> => {
  const { inventory, runningTargets } = context;
  const running = inventory.targets
    .map((target) => `${runningTargets.getState(target)} ${[...runningTargets.getProcesses(target)].sort().join(' ')}`)
    .join('\n');
  const known = assessments.get(inventory);
  if (known?.running === running) return known.findings;
  const findings = mapInSlices(inventory.findings, (finding) => assessFinding(finding, context)).then((assessed) =>
    assessed.sort(compareScores),
  );
  assessments.set(inventory, { running, findings });
  return findings;
};
