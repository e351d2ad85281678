/** Probes the servers of stores, and reports those that do not respond. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Clock, systemClock } from '../schemas/ports/clock.ts';
import { type Log, silentLog } from '../schemas/ports/log.ts';
import { type Metrics, silentMetrics } from '../schemas/ports/metrics.ts';
import type { MemberWatch, StoreMember, StoreMembers, UnavailableMember } from '../schemas/ports/store-members.ts';
import { runEvery } from './interval.ts';

const probeEveryMs = 1000;
/** A slower server counts as hanging, unless a later probe was answered. */
const probeTimeoutMs = 3000;
const defaultMinFailures = 2;

interface Reporting {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly clock: Clock;
}

interface MemberState {
  failures: number;
  pendingProbes: number;
  /** Start of the latest probe that was answered, as a `performance.now()` time */
  answeredProbeAt: number;
  unavailable: UnavailableMember | undefined;
}

class Watch implements MemberWatch {
  readonly #store: string;
  readonly #list: () => readonly StoreMember[];
  readonly #reporting: Reporting;
  readonly #states = new Map<string, MemberState>();
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  readonly #onClosed: () => void;
  #isClosed = false;

  constructor(store: string, list: () => readonly StoreMember[], reporting: Reporting, onClosed: () => void) {
    this.#store = store;
    this.#list = list;
    this.#reporting = reporting;
    this.#onClosed = onClosed;
    this.#stop = runEvery(probeEveryMs, () => this.#probeAll());
  }

  get unavailable(): readonly UnavailableMember[] {
    return [...this.#states.values()].flatMap(({ unavailable }) => unavailable ?? []);
  }

  isUnavailable(name: string): boolean {
    return this.#states.get(name)?.unavailable !== undefined;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
    this.#onClosed();
  }

  #probeAll(): void {
    const members = new Map(this.#list().map((member) => [member.name, member]));
    for (const name of this.#states.keys()) if (!members.has(name)) this.#forget(name);
    for (const member of members.values()) void this.#probe(member);
  }

  /** Nothing is known about a server that the store no longer has: its last value would be misleading. */
  #forget(name: string): void {
    this.#states.delete(name);
    this.#reporting.metrics.set('oiq_store_server_up', Number.NaN, { store: this.#store, server: name });
  }

  async #probe(member: StoreMember): Promise<void> {
    const state = this.#states.get(member.name) ?? {
      failures: 0,
      pendingProbes: 0,
      answeredProbeAt: Number.NEGATIVE_INFINITY,
      unavailable: undefined,
    };
    this.#states.set(member.name, state);
    // A hanging server gets no more probes than those that still wait for it.
    if (state.pendingProbes > probeTimeoutMs / probeEveryMs) return;
    state.pendingProbes++;
    const startedAt = performance.now();
    const outcome = await settle(member);
    state.pendingProbes--;
    if (this.#isClosed || this.#states.get(member.name) !== state) return;
    if (outcome === 'answered') {
      state.failures = 0;
      state.answeredProbeAt = Math.max(state.answeredProbeAt, startedAt);
      this.#setUnavailable(member.name, state, undefined);
    } else if (outcome === 'timeout') {
      if (state.answeredProbeAt < startedAt) this.#setUnavailable(member.name, state, 'does not respond');
    } else {
      state.failures++;
      if (state.failures >= (member.minFailures ?? defaultMinFailures))
        this.#setUnavailable(member.name, state, outcome.reason);
    }
  }

  #setUnavailable(name: string, state: MemberState, reason: string | undefined): void {
    const { log, metrics, clock } = this.#reporting;
    const store = this.#store;
    metrics.set('oiq_store_server_up', reason === undefined ? 1 : 0, { store, server: name });
    if ((reason === undefined) === (state.unavailable === undefined)) return;
    state.unavailable = reason === undefined ? undefined : { store, name, reason, sinceMs: clock.now() };
    if (reason === undefined) log.info({ store, server: name }, 'a server of a store responds again');
    else log.warn({ store, server: name, reason }, 'a server of a store does not respond');
    for (const listener of [...this.#listeners]) listener();
  }
}

const timedOut = Symbol('timed out');

/** Result of one probe. Never rejects. */
const settle = async (member: StoreMember): Promise<'answered' | 'timeout' | { readonly reason: string }> => {
  let timer: NodeJS.Timeout | undefined;
  let outcome: 'answered' | { readonly reason: string } | undefined;
  const probing = Promise.resolve()
    .then(() => member.probe())
    .then(
      () => {
        outcome = 'answered';
      },
      (error: unknown) => {
        outcome = { reason: error instanceof Error && error.message !== '' ? error.message : String(error) };
      },
    );
  const limit = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(() => resolve(timedOut), probeTimeoutMs);
    timer.unref();
  });
  await Promise.race([probing, limit]);
  clearTimeout(timer);
  // If this process was blocked, the timer is over although the response is there: it is read in the next turn.
  for (let turns = 0; turns < 2 && outcome === undefined; turns++) await yieldToEventLoop();
  return outcome ?? 'timeout';
};

export const createStoreMembers = ({
  log = silentLog,
  metrics = silentMetrics,
  clock = systemClock,
}: Partial<Reporting> = {}): StoreMembers => {
  const watches = new Set<Watch>();
  return {
    watch(store, list) {
      const watch: Watch = new Watch(store, list, { log, metrics, clock }, () => watches.delete(watch));
      watches.add(watch);
      return watch;
    },
    listUnavailable: () => [...watches].flatMap((watch) => watch.unavailable),
  };
};
