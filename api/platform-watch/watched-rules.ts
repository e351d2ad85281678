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
import { type Finding, minStaleMs, type WatchedRule } from '../../subjects/alerts/platform.ts';
import { recordingRuleId } from '../../subjects/alerts/recording/group.ts';
import { readRule } from '../../subjects/alerts/rule.ts';

interface WatchedRulesPorts {
  readonly documents: Documents;
  readonly columns: Pick<Columns, 'query'>;
  readonly clock: Clock;
}

type ById<Value> = ReadonlyMap<string, Value>;

const timed = ({ enabled, updatedAt }: Pick<WatchedRule, 'enabled' | 'updatedAt'>) => ({ enabled, updatedAt });

export class WatchedRules {
  readonly #ports: WatchedRulesPorts;
  readonly #byTenant = new Map<string, Map<string, WatchedRule>>();
  #feeds: Promise<readonly Feed[]> | undefined;
  #evaluated: ById<ById<number>> = new Map();
  #unreadableSinceMs: number | undefined;

  constructor(ports: WatchedRulesPorts) {
    this.#ports = ports;
  }

  /** Rules by id, of organizations that have some */
  get byTenant(): ById<ById<WatchedRule>> {
    return this.#byTenant;
  }

  /** Whether the last read returned the evaluation times. */
  get isKnown(): boolean {
    return this.#unreadableSinceMs === undefined;
  }

  evaluatedOf(tenantId: string): ById<number> {
    return this.#evaluated.get(tenantId) ?? new Map();
  }

  async read(): Promise<void> {
    this.#feeds ??= this.#follow();
    await this.#feeds;
    try {
      this.#evaluated = this.#byTenant.size === 0 ? new Map() : await readLastEvaluations(this.#ports.columns);
      this.#unreadableSinceMs = undefined;
    } catch {
      // Readers that cannot rely on tables must be alerted too: `unreadable` reports a lasting failure.
      this.#unreadableSinceMs ??= this.#ports.clock.now();
    }
  }

  /** Returns the finding for these rules after the evaluation times have been unavailable for long. */
  unreadable(rules: ById<WatchedRule>): Finding | undefined {
    const sinceMs = this.#unreadableSinceMs;
    if (sinceMs === undefined || this.#ports.clock.now() - sinceMs < minStaleMs) return undefined;
    if (![...rules.values()].some(({ enabled }) => enabled)) return undefined;
    const since = new Date(sinceMs).toISOString();
    return {
      sinceMs,
      reason: `It is unknown whether alert rules are evaluated: tables have not answered since ${since}`,
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
          // A rule that this version cannot parse is evaluated nowhere.
          const interval = (document && readRule(document)?.interval) ?? '1m';
          this.#store(tenantId, id, document && { kind: 'alert', ...timed(document), interval });
        }),
      );
      feeds.push(
        await documents.follow(recordingGroups, ({ tenantId, id, document }) => {
          const { interval = '1m' } = document ?? {};
          // The rules of a group are evaluated in one run: the first rule represents the group.
          this.#store(
            tenantId,
            recordingRuleId(id, 0),
            document && { kind: 'recording', ...timed(document), interval },
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
    const own = this.#byTenant.get(tenantId) ?? new Map<string, WatchedRule>();
    if (rule === undefined) own.delete(id);
    else own.set(id, rule);
    if (own.size === 0) this.#byTenant.delete(tenantId);
    else this.#byTenant.set(tenantId, own);
  }
}
