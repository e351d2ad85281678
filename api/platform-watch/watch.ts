/** Checks the platform functions on which organizations rely, and alerts them and the operator about failures. */

import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { reportAfterMs } from '../../runtime/group-status.ts';
import { defineJob } from '../../runtime/jobs.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { platformTenant } from '../../schemas/ports/documents.ts';
import type { GroupStatuses } from '../../schemas/ports/group-status.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { type Organization, organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import {
  operatorProblems,
  type PlatformAlert,
  type PlatformAlertKind,
  platformAlertKinds,
  platformAlerts,
} from '../../schemas/resources/platform-alert.ts';
import { slos } from '../../schemas/resources/slo.ts';
import { readPlan } from '../../schemas/resources/tenant-plan.ts';
import {
  describeLateness,
  findLateRecords,
  findStaleRules,
  type PlatformProblem,
  type WatchedRule,
} from '../../subjects/alerts/platform.ts';
import { createPlatformAlertSubject, platformTransition } from '../../subjects/alerts/platform-alerts.ts';
import { publishTransition, type TransitionPublisher } from './notify.ts';
import type { OperatorChannel, Problem } from './operator.ts';
import { endUnusedChannelAlerts } from './unused-channel-alerts.ts';
import { WatchedRules } from './watched-rules.ts';

export interface PlatformWatchPorts extends TransitionPublisher {
  readonly documents: Documents;
  readonly columns: Pick<Columns, 'query'>;
  readonly groupStatuses: GroupStatuses;
  readonly clock: Clock;
  readonly operator: readonly OperatorChannel[];
}

/** Consumer groups that store an organization's records, and that run its detection rules. */
const groupsByKind = {
  'records-late': ['logs', 'metrics', 'traces'].map((sink) => toConsumerGroup('sinks', sink)),
  'detections-late': [toConsumerGroup('processors', 'detections')],
} as const;

/** A process learns about groups of other roles within a minute, and about their problems within another minute. */
const minGroupsKnownMs = 3 * reportAfterMs;

/**
 * If the last check of this process is longer ago than this, the process was suspended, or another process ran the
 * checks: then staleness is measured from the current time.
 */
const maxGapMs = 600_000;

type Alerts = ReadonlyMap<PlatformAlertKind, PlatformAlert>;

/** Findings of an organization by kind. If a kind is missing, its state is unknown and its alert stays unchanged. */
type Findings = ReadonlyMap<PlatformAlertKind, PlatformProblem | undefined>;

/** Rules that are evaluated on a plan: without metrics, only alert rules. */
const filterEvaluatedRules = (
  { entitlements }: Pick<Plan, 'entitlements'>,
  rules: ReadonlyMap<string, WatchedRule>,
): ReadonlyMap<string, WatchedRule> =>
  entitlements.includes('metrics') ? rules : new Map([...rules].filter(([, { kind }]) => kind === 'alert'));

export class PlatformWatch {
  readonly #ports: PlatformWatchPorts;
  readonly #rules: WatchedRules;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #watchedSinceMs = 0;
  #statusesSinceMs: number | undefined;

  constructor(ports: PlatformWatchPorts) {
    this.#ports = ports;
    this.#rules = new WatchedRules(ports);
  }

  /** Notifies the operator first: notifications of organizations depend on more components that may have failed. */
  async checkPlatform(): Promise<void> {
    const nowMs = this.#ports.clock.now();
    if (Math.abs(nowMs - this.#checkedAtMs) > maxGapMs) this.#watchedSinceMs = nowMs;
    this.#checkedAtMs = nowMs;
    await this.#rules.refresh();
    const staleOrganizations = await this.#findStaleOrganizations();
    const { documents, clock } = this.#ports;
    const results = await Promise.allSettled([
      this.#notifyOperator(staleOrganizations),
      this.#notifyOrganizations(staleOrganizations),
      endUnusedChannelAlerts({ documents, clock, publish: (transition) => this.#publish(transition) }),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  close(): Promise<void> {
    return this.#rules.close();
  }

  async #findOrganization(id: string): Promise<Organization | undefined> {
    return this.#ports.documents.forTenant(organizationsTenant).collection(organizations).find(id);
  }

  async #readFiringAlerts(): Promise<ReadonlyMap<string, Alerts>> {
    const firingByTenant = new Map<string, Map<PlatformAlertKind, PlatformAlert>>();
    for await (const { tenantId, id, ...alert } of this.#ports.documents.findInAllTenants(platformAlerts)) {
      const kind = platformAlertKinds.find((platformAlertKind) => platformAlertKind === id);
      if (kind !== undefined)
        firingByTenant.set(tenantId, (firingByTenant.get(tenantId) ?? new Map()).set(kind, alert));
    }
    return firingByTenant;
  }

  /** Organizations with overdue rule evaluations, without disabled organizations. */
  async #findStaleOrganizations(): Promise<ReadonlyMap<string, PlatformProblem>> {
    const firingByTenant = await this.#readFiringAlerts();
    const nowMs = this.#ports.clock.now();
    const staleOrganizations = new Map<string, PlatformProblem>();
    for (const [tenantId, rules] of this.#rules.byTenant) {
      const isFiring = firingByTenant.get(tenantId)?.has('rules-not-evaluated') === true;
      const evaluationContext = { nowMs, watchedSinceMs: this.#watchedSinceMs, isFiring };
      const findStaleness = (evaluatedRules: typeof rules): PlatformProblem | undefined =>
        this.#rules.findUnavailabilityProblem(evaluatedRules) ??
        findStaleRules(evaluatedRules, this.#rules.getEvaluationTimes(tenantId), evaluationContext);
      if (findStaleness(rules) === undefined) continue;
      const plan = await readPlan(this.#ports.documents, tenantId);
      const finding = plan && findStaleness(filterEvaluatedRules(plan, rules));
      if (finding !== undefined) staleOrganizations.set(tenantId, finding);
    }
    return staleOrganizations;
  }

  async #notifyOrganizations(stale: ReadonlyMap<string, PlatformProblem>): Promise<void> {
    const firingByTenant = await this.#readFiringAlerts();
    const isAnyLate = Object.values(groupsByKind).some((groups) => this.#isLate(groups));
    const ids = new Set([...stale.keys(), ...firingByTenant.keys()]);
    if (isAnyLate) for await (const { id } of this.#ports.documents.findInAllTenants(organizations)) ids.add(id);
    for (const tenantId of ids) {
      const firingAlerts = firingByTenant.get(tenantId) ?? new Map();
      await this.#notifyTenant(
        tenantId,
        await this.#collectFindings(tenantId, stale.get(tenantId), firingAlerts),
        firingAlerts,
      );
    }
  }

  /** Whether the lag of these groups is too high, for any organization. */
  #isLate(groups: readonly string[]): boolean {
    const partitions = this.#ports.groupStatuses
      .getStatuses()
      .filter(({ group }) => groups.includes(group))
      .flatMap((status) => status.partitions);
    return partitions.some(({ ageMs }) => describeLateness(ageMs) !== undefined);
  }

  async #collectFindings(
    tenantId: string,
    rulesProblem: PlatformProblem | undefined,
    firing: Alerts,
  ): Promise<Findings> {
    const organization = await this.#findOrganization(tenantId);
    // Closed and disabled organizations get no alerts.
    if (organization === undefined || organization.disabled)
      return new Map(platformAlertKinds.map((kind) => [kind, undefined]));
    const findings = new Map<PlatformAlertKind, PlatformProblem | undefined>();
    if (rulesProblem !== undefined || this.#rules.hasEvaluationTimes) findings.set('rules-not-evaluated', rulesProblem);
    for (const kind of ['records-late', 'detections-late'] as const) {
      const statuses = this.#ports.groupStatuses
        .getStatuses()
        .filter(({ group }) => groupsByKind[kind].includes(group));
      if (statuses.length < groupsByKind[kind].length || statuses.some(({ partitions }) => partitions.length === 0))
        continue;
      const evaluationContext = { nowMs: this.#ports.clock.now(), isReported: firing.has(kind) };
      const latenessProblem = findLateRecords(statuses, {
        tenantId,
        shards: organization.shards,
        ...evaluationContext,
      });
      findings.set(
        kind,
        latenessProblem !== undefined && (await this.#hasAffectedRules(kind, tenantId)) ? latenessProblem : undefined,
      );
    }
    return findings;
  }

  /** Whether the organization has rules or SLOs that late records affect. */
  async #hasAffectedRules(kind: 'records-late' | 'detections-late', tenantId: string): Promise<boolean> {
    if (kind === 'records-late' && this.#rules.byTenant.has(tenantId)) return true;
    const tenantDocuments = this.#ports.documents.forTenant(tenantId);
    const enabled = { filter: { enabled: true }, limit: 1 };
    const { items } = await (kind === 'records-late'
      ? tenantDocuments.collection(slos).list(enabled)
      : tenantDocuments.collection(detectionRules).list(enabled));
    return items.length > 0;
  }

  /**
   * Starts and ends the alerts of an organization. An alert is published first and then stored, so that it cannot be
   * lost: a repeated publication has the same id.
   */
  async #notifyTenant(tenantId: string, findings: Findings, firing: Alerts): Promise<void> {
    const { documents, clock } = this.#ports;
    const alerts = documents.forTenant(tenantId).collection(platformAlerts);
    for (const [kind, finding] of findings) {
      const alert = firing.get(kind);
      if (finding !== undefined && alert === undefined) {
        const now = new Date(clock.now()).toISOString();
        const startedAlert = { reason: finding.reason, since: new Date(finding.sinceMs).toISOString(), startedAt: now };
        const transition = platformTransition(tenantId, createPlatformAlertSubject(kind, finding.reason), startedAlert);
        await this.#publish(transition);
        await alerts.insert({ id: kind, severity: transition.severity, ...startedAlert });
      } else if (finding === undefined && alert !== undefined) {
        const end = { atMs: clock.now(), reason: 'it has recovered' };
        await this.#publish(platformTransition(tenantId, createPlatformAlertSubject(kind, alert.reason), alert, end));
        await alerts.delete(kind);
      }
    }
  }

  #publish(transition: AlertTransition): Promise<void> {
    return publishTransition(this.#ports, transition);
  }

  /** Returns the problems for the operator; undefined until the groups have been known long enough to detect problems. */
  #collectProblems(stale: ReadonlyMap<string, PlatformProblem>): ReadonlyMap<string, Problem> | undefined {
    const nowMs = this.#ports.clock.now();
    const groups = this.#ports.groupStatuses.getStatuses();
    if (groups.length === 0) return undefined;
    this.#statusesSinceMs ??= nowMs;
    if (nowMs - this.#statusesSinceMs < minGroupsKnownMs) return undefined;
    const problems = new Map<string, Problem>();
    for (const { group, problem, sinceMs = nowMs } of groups)
      if (problem !== undefined) problems.set(group, { name: group, text: problem, sinceMs });
    if (stale.size > 0) {
      const sinceMs = Math.min(...[...stale.values()].map((finding) => finding.sinceMs));
      const text = `of ${stale.size} organizations have not been evaluated since ${new Date(sinceMs).toISOString()}`;
      problems.set('alert rules', { name: 'alert rules', text, sinceMs });
    }
    return problems;
  }

  async #notifyOperator(stale: ReadonlyMap<string, PlatformProblem>): Promise<void> {
    const problems = this.#collectProblems(stale);
    if (problems === undefined) return;
    for (const channel of this.#ports.operator) await this.#notifyChannel(channel, problems);
  }

  /** Notifies one channel. What it received is stored per channel, so that an unavailable channel is retried without duplicates for the others. */
  async #notifyChannel({ type, notify }: OperatorChannel, problems: ReadonlyMap<string, Problem>): Promise<void> {
    const { documents, clock } = this.#ports;
    const problemCollection = documents.forTenant(platformTenant).collection(operatorProblems);
    const storedProblems = await problemCollection.find(type);
    const reportedProblems = storedProblems?.problems ?? {};
    const newNames = [...problems.keys()].filter((name) => !(name in reportedProblems));
    const endedEntries = Object.entries(reportedProblems).filter(([name]) => !problems.has(name));
    if (newNames.length === 0 && endedEntries.length === 0) return;
    const endedProblems = endedEntries.map(([name, { text, since }]) => ({
      name,
      text,
      sinceMs: Date.parse(since),
      endedMs: clock.now(),
    }));
    if (!(await notify([...problems.values(), ...endedProblems]))) return;
    const entries = [...problems].map(([name, { text, sinceMs }]) => {
      const before = reportedProblems[name];
      return [name, before ?? { text, since: new Date(sinceMs).toISOString() }] as const;
    });
    const after = { problems: Object.fromEntries(entries) };
    if (storedProblems === undefined) await problemCollection.insert({ id: type, ...after });
    else await problemCollection.replace(type, after, storedProblems.version);
  }
}

/**
 * One process at a time runs the check; if it fails, another one takes over within half a minute. The check runs in
 * processes with the role api, not in those that evaluate rules.
 */
export const platformWatchJob = defineJob<PlatformWatch>({
  name: 'platform-watch',
  summary: 'Alert organizations and the operator about failed functions',
  everyMs: 30_000,
  scope: 'installation',
  run: (watch) => watch.checkPlatform(),
});
