/** Result of a batch or a tick. */
import type { Message } from '../../schemas/ports/bus.ts';

/** A message, or some of its items, that goes to the dead letters of its tenant. */
export interface PoisonMessage {
  readonly offset: number;
  readonly tenantId: string;
  /** `only-ordinals` of the dead letter; `undefined` for the whole message. */
  readonly ordinals: string | undefined;
  readonly reason: string;
  readonly message: string;
}

/** Usage of a tenant. */
export interface TenantUsage {
  readonly tenantId: string;
  /** Thread time used, in milliseconds. */
  readonly ms: number;
  readonly messages: number;
  /** Number of these messages that go to the dead letters. */
  readonly poison: number;
  /** Size of the tenant's state. */
  readonly stateBytes: number;
}

export interface FailedTimer {
  readonly tenantId: string;
  readonly key: string;
  readonly message: string;
}

export interface Counts {
  /** Number of items that were stepped or filtered out. */
  readonly items: number;
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Number of values, by topic. */
  readonly emitted: Readonly<Record<string, number>>;
  /** Number of evicted state entries. */
  readonly evicted: number;
}

export interface BatchResult {
  /** Messages to publish, in order. */
  readonly messages: readonly Message[];
  readonly poison: readonly PoisonMessage[];
  readonly failedTimers: readonly FailedTimer[];
  readonly tenants: readonly TenantUsage[];
  /** Records that were skipped because their tenant is limited. */
  readonly limited: readonly { readonly tenantId: string; readonly reason: string; readonly records: number }[];
  readonly counts: Counts;
}

/** State of a task. */
export interface TaskStatus {
  readonly nextOffset: number;
  /** Time at which a tick has work if no message arrives; `Infinity` for never. */
  readonly nextTickMs: number;
  readonly tenants: number;
  readonly entries: number;
  readonly bytes: number;
}

const maxReasons = 20;
const reasonPattern = /^[a-z][a-z0-9-]{0,39}$/;

interface Usage {
  ms: number;
  messages: number;
  poison: number;
  stateBytes: number;
}

/** Accumulates the results of a batch. */
export class BatchReport {
  readonly poison: PoisonMessage[] = [];
  readonly failedTimers: FailedTimer[] = [];
  items = 0;
  evicted = 0;
  readonly #dropped = new Map<string, number>();
  readonly #emitted = new Map<string, number>();
  readonly #limited = new Map<string, { tenantId: string; reason: string; records: number }>();
  readonly #tenants = new Map<string, Usage>();

  /** Counts dropped items. A reason that is not one short word, and every reason after the twentieth, counts as `other`. */
  drop(reason: string, count = 1): void {
    const isKnown = this.#dropped.has(reason) || (this.#dropped.size < maxReasons && reasonPattern.test(reason));
    const label = isKnown ? reason : 'other';
    this.#dropped.set(label, (this.#dropped.get(label) ?? 0) + count);
  }

  emit(topic: string): void {
    this.#emitted.set(topic, (this.#emitted.get(topic) ?? 0) + 1);
  }

  limit(tenantId: string, reason: string, records: number): void {
    const key = `${tenantId}\n${reason}`;
    const existing = this.#limited.get(key);
    if (existing === undefined) this.#limited.set(key, { tenantId, reason, records });
    else existing.records += records;
  }

  addUsage(tenantId: string, { ms, messages, poison, stateBytes }: Usage): void {
    const existing = this.#tenants.get(tenantId);
    if (existing === undefined) {
      this.#tenants.set(tenantId, { ms, messages, poison, stateBytes });
      return;
    }
    existing.ms += ms;
    existing.messages += messages;
    existing.poison += poison;
    existing.stateBytes = stateBytes;
  }

  buildResult(messages: readonly Message[]): BatchResult {
    return {
      messages,
      poison: this.poison,
      failedTimers: this.failedTimers,
      tenants: [...this.#tenants].map(([tenantId, usage]) => ({ tenantId, ...usage })),
      limited: [...this.#limited.values()],
      counts: {
        items: this.items,
        dropped: Object.fromEntries(this.#dropped),
        emitted: Object.fromEntries(this.#emitted),
        evicted: this.evicted,
      },
    };
  }
}
