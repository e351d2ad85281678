/** Times of the phases of a step: each begins at the end of the previous one, so that they add up to the total. */

/** Milliseconds of each phase, with microsecond precision */
export type Phases = Readonly<Record<string, number>>;

const roundToMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000;

export const sumDurations = (phases: Phases): number =>
  roundToMicroseconds(Object.values(phases).reduce((sum, ms) => sum + ms, 0));

/** Clock of the phases. Repeated phases, for example after a redirect, are summed. */
export class PhaseClock {
  readonly #times: Record<string, number> = {};
  #current: string;
  #phaseStartMs = performance.now();

  constructor(first: string) {
    this.#current = first;
  }

  get current(): string {
    return this.#current;
  }

  enter(phase: string): void {
    const nowMs = performance.now();
    this.#times[this.#current] = (this.#times[this.#current] ?? 0) + nowMs - this.#phaseStartMs;
    this.#current = phase;
    this.#phaseStartMs = nowMs;
  }

  /** Runs work whose time belongs to no phase. */
  async runUncounted<Value>(work: () => Promise<Value>): Promise<Value> {
    this.enter(this.#current);
    try {
      return await work();
    } finally {
      this.#phaseStartMs = performance.now();
    }
  }

  /** The times up to now */
  phases(): Phases {
    this.enter(this.#current);
    return Object.fromEntries(Object.entries(this.#times).map(([phase, ms]) => [phase, roundToMicroseconds(ms)]));
  }
}

/** Sum of the phases of several steps */
export const sumPhases = (stepPhases: readonly Phases[]): Phases => {
  const sums: Record<string, number> = {};
  for (const getPhases of stepPhases)
    for (const [phase, ms] of Object.entries(getPhases)) sums[phase] = roundToMicroseconds((sums[phase] ?? 0) + ms);
  return sums;
};
