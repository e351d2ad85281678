/**
 * The alert rules and groups of recording rules of all organizations, with the stored time of the last evaluation of
 * each.
 */
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents, Feed } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { readLastEvaluations } from '../../subjects/alerts/history.ts';
import { minStaleMs, type PlatformProblem, type WatchedRule } from '../../subjects/alerts/platform.ts';
import { recordingRuleId } from '../../subjects/alerts/recording/group.ts';
import { parseStoredRule } from '../../subjects/alerts/rule.ts';

interface WatchedRulesPorts {
  readonly documents: Documents;
  readonly columns: Pick<Columns, 'query'>;
  readonly clock: Clock;
}

type ValuesById<Value> = ReadonlyMap<string, Value>;

const pickTimes = ({ enabled, updatedAt }: Pick<WatchedRule, 'enabled' | 'updatedAt'>) => ({ enabled, updatedAt });

export class WatchedRules {
  readonly #ports: WatchedRulesPorts;
  readonly #byTenant = new Map<string, Map<string, WatchedRule>>();
  #feeds: Promise<readonly Feed[]> | undefined;
  #evaluatedMsByTenant: ValuesById<ValuesById<number>> = new Map();
  #unreadableSinceMs: number | undefined;

  constructor(ports: WatchedRulesPorts) {
    this.#ports = ports;
  }

  /** Rules by id, of organizations that have some */
  get byTenant(): ValuesById<ValuesById<WatchedRule>> {
    return this.#byTenant;
  }

  /** Whether the last read returned the evaluation times. */
  get hasEvaluationTimes(): boolean {
    return this.#unreadableSinceMs === undefined;
  }

  getEvaluationTimes(tenantId: string): ValuesById<number> {
    return this.#evaluatedMsByTenant.get(tenantId) ?? new Map();
  }

  async refresh(): Promise<void> {
    this.#feeds ??= this.#follow();
    await this.#feeds;
    try {
      this.#evaluatedMsByTenant =
        this.#byTenant.size === 0 ? new Map() : await readLastEvaluations(this.#ports.columns);
      this.#unreadableSinceMs = undefined;
    } catch {
      // Do not throw: organizations must be alerted even if the tables cannot be read. `findUnavailabilityProblem` reports a lasting
      // failure.
      this.#unreadableSinceMs ??= this.#ports.clock.now();
    }
  }

  /** Returns the finding for these rules after the evaluation times have been unavailable for long. */
  findUnavailabilityProblem(rules: ValuesById<WatchedRule>): PlatformProblem | undefined {
    const sinceMs = this.#unreadableSinceMs;
    if (sinceMs === undefined || this.#ports.clock.now() - sinceMs < minStaleMs) return undefined;
    if (![...rules.values()].some(({ enabled }) => enabled)) return undefined;
    const since = new Date(sinceMs).toISOString();
    return {
      sinceMs,
      reason: `It is unknown whether alert rules are evaluated: the tables have not responded since ${since}`,
    };
  }

  async close(): Promise<void> {
    for (const feed of (await this.#feeds?.catch(() => [])) ?? []) await feed.close();
  }

  async #follow(): Promise<readonly Feed[]> {
    const { documents } = this.#ports;
    const feeds: Feed[] = [];
    try {
      feeds.push(
        await documents.follow(alertRules, ({ tenantId, id, document }) => {
          // A rule that this version cannot parse is not evaluated, so it is watched with a default interval.
          const interval = (document && parseStoredRule(document)?.interval) ?? '1m';
          this.#store(tenantId, id, document && { kind: 'alert', ...pickTimes(document), interval });
        }),
      );
      feeds.push(
        await documents.follow(recordingGroups, ({ tenantId, id, document }) => {
          const { interval = '1m' } = document ?? {};
          // The rules of a group are evaluated in one run: the first rule represents the group.
          this.#store(
            tenantId,
            recordingRuleId(id, 0),
            document && { kind: 'recording', ...pickTimes(document), interval },
          );
        }),
      );
      return feeds;
    } catch (error) {
      this.#feeds = undefined;
      for (const feed of feeds) await feed.close();
      throw error;
    }
  }

  #store(tenantId: string, id: string, rule: WatchedRule | undefined): void {
    const tenantRules = this.#byTenant.get(tenantId) ?? new Map<string, WatchedRule>();
    if (rule === undefined) tenantRules.delete(id);
    else tenantRules.set(id, rule);
    if (tenantRules.size === 0) this.#byTenant.delete(tenantId);
    else this.#byTenant.set(tenantId, tenantRules);
  }
}
