/** The alert rules of all organizations, and when each was last evaluated, as that landed. */
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents, Feed } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { readLastEvaluations } from '../../subjects/alerts/history.ts';
import { type Finding, leastStaleMs, type WatchedRule } from '../../subjects/alerts/platform.ts';
import { readRule } from '../../subjects/alerts/rule.ts';

interface WatchedRulesPorts {
  readonly documents: Documents;
  readonly columns: Pick<Columns, 'query'>;
  readonly clock: Clock;
}

type ById<Value> = ReadonlyMap<string, Value>;

export class WatchedRules {
  readonly #ports: WatchedRulesPorts;
  readonly #byTenant = new Map<string, Map<string, WatchedRule>>();
  #feed: Promise<Feed> | undefined;
  #evaluated: ById<ById<number>> = new Map();
  #unreadableSinceMs: number | undefined;

  constructor(ports: WatchedRulesPorts) {
    this.#ports = ports;
  }

  /** Rules by id, of organizations that have some. */
  get byTenant(): ById<ById<WatchedRule>> {
    return this.#byTenant;
  }

  /** Whether the last read has answered when rules were evaluated. */
  get isKnown(): boolean {
    return this.#unreadableSinceMs === undefined;
  }

  evaluatedOf(tenantId: string): ById<number> {
    return this.#evaluated.get(tenantId) ?? new Map();
  }

  async read(): Promise<void> {
    this.#feed ??= this.#follow();
    await this.#feed;
    try {
      this.#evaluated = this.#byTenant.size === 0 ? new Map() : await readLastEvaluations(this.#ports.columns);
      this.#unreadableSinceMs = undefined;
    } catch {
      // Who may not rely on tables must hear of it too: `unreadable` says so when it lasts.
      this.#unreadableSinceMs ??= this.#ports.clock.now();
    }
  }

  /** What is to be said of these rules where it cannot be known for long when they were evaluated. */
  unreadable(rules: ById<WatchedRule>): Finding | undefined {
    const sinceMs = this.#unreadableSinceMs;
    if (sinceMs === undefined || this.#ports.clock.now() - sinceMs < leastStaleMs) return undefined;
    if (![...rules.values()].some(({ enabled }) => enabled)) return undefined;
    const since = new Date(sinceMs).toISOString();
    return {
      sinceMs,
      reason: `It is not known whether alert rules are evaluated: tables do not answer since ${since}`,
    };
  }

  async close(): Promise<void> {
    await (await this.#feed?.catch(() => undefined))?.close();
  }

  async #follow(): Promise<Feed> {
    try {
      return await this.#ports.documents.follow(alertRules, ({ tenantId, id, document }) => {
        const own = this.#byTenant.get(tenantId) ?? new Map<string, WatchedRule>();
        if (document === undefined) own.delete(id);
        else {
          const { enabled, updatedAt } = document;
          // One that is not understood here is evaluated nowhere.
          own.set(id, { enabled, updatedAt, interval: readRule(document)?.interval ?? '1m' });
        }
        if (own.size === 0) this.#byTenant.delete(tenantId);
        else this.#byTenant.set(tenantId, own);
      });
    } catch (error) {
      this.#feed = undefined;
      throw error;
    }
  }
}
