/** What became of a batch or a tick. */
import type { Message } from '../../schemas/ports/bus.ts';

/** A message that goes to the dead letter of its tenant, or some of its items. */
export interface Poison {
  readonly offset: number;
  readonly tenantId: string;
  /** `only-ordinals` of the letter; `undefined` for the whole message. */
  readonly ordinals: string | undefined;
  readonly reason: string;
  readonly message: string;
}

/** What a tenant took. */
export interface TenantUsage {
  readonly tenantId: string;
  /** Of the thread. */
  readonly ms: number;
  readonly messages: number;
  /** Of them, those that go to the dead letter. */
  readonly poison: number;
  /** Of state. */
  readonly bytes: number;
}

export interface FailedTimer {
  readonly tenantId: string;
  readonly key: string;
  readonly message: string;
}

export interface Counts {
  /** That were stepped, or are none that the processor wants. */
  readonly items: number;
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Values, by topic. */
  readonly emitted: Readonly<Record<string, number>>;
  /** Entries of state that made way for others. */
  readonly evicted: number;
}

export interface Answer {
  /** To be published, in order. */
  readonly messages: readonly Message[];
  readonly poison: readonly Poison[];
  readonly failedTimers: readonly FailedTimer[];
  readonly tenants: readonly TenantUsage[];
  /** Records that were passed by, as their tenant is limited. */
  readonly limited: readonly { readonly tenantId: string; readonly reason: string; readonly records: number }[];
  readonly counts: Counts;
}

/** What a task holds. */
export interface Holding {
  readonly nextOffset: number;
  /** When a tick has something to do, if no message comes; `Infinity` if never. */
  readonly nextTickMs: number;
  readonly tenants: number;
  readonly entries: number;
  readonly bytes: number;
}

const maxReasons = 20;
const reasonForm = /^[a-z][a-z0-9-]{0,39}$/;

interface Spent {
  ms: number;
  messages: number;
  poison: number;
  bytes: number;
}

/** Adds up what a batch does. */
export class Report {
  readonly poison: Poison[] = [];
  readonly failedTimers: FailedTimer[] = [];
  items = 0;
  evicted = 0;
  readonly #dropped = new Map<string, number>();
  readonly #emitted = new Map<string, number>();
  readonly #limited = new Map<string, { tenantId: string; reason: string; records: number }>();
  readonly #tenants = new Map<string, Spent>();

  /** What is no short word, and the twenty-first one, count as `other`. */
  drop(reason: string, count = 1): void {
    const isKnown = this.#dropped.has(reason) || (this.#dropped.size < maxReasons && reasonForm.test(reason));
    const counted = isKnown ? reason : 'other';
    this.#dropped.set(counted, (this.#dropped.get(counted) ?? 0) + count);
  }

  emit(topic: string): void {
    this.#emitted.set(topic, (this.#emitted.get(topic) ?? 0) + 1);
  }

  limit(tenantId: string, reason: string, records: number): void {
    const key = `${tenantId}\n${reason}`;
    const known = this.#limited.get(key);
    if (known === undefined) this.#limited.set(key, { tenantId, reason, records });
    else known.records += records;
  }

  spend(tenantId: string, { ms, messages, poison, bytes }: Spent): void {
    const known = this.#tenants.get(tenantId);
    if (known === undefined) {
      this.#tenants.set(tenantId, { ms, messages, poison, bytes });
      return;
    }
    known.ms += ms;
    known.messages += messages;
    known.poison += poison;
    known.bytes = bytes;
  }

  answer(messages: readonly Message[]): Answer {
    return {
      messages,
      poison: this.poison,
      failedTimers: this.failedTimers,
      tenants: [...this.#tenants].map(([tenantId, spent]) => ({ tenantId, ...spent })),
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
