/** Threads that run rules over records that were stored or made up. How long a rule takes over a record has no bound, and nobody else waits. */
import { Worker } from 'node:worker_threads';
import { QueryError } from '../../queries/errors.ts';
import { TooManyWaiting, Turns } from '../../queries/limits/turns.ts';
import { PoolThread } from '../../runtime/worker-pool.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import type { ToDeploy } from './deployed.ts';
import type { DetectedRecord } from './detect.ts';
import type { RecordValues } from './record-event.ts';
import type { Match } from './rule-set.ts';

/** What the main thread asks of a thread. */
export type RuleRequest = { readonly id: number } & (
  | { readonly deploy: ToDeploy; readonly nowMs: number }
  | { readonly records: readonly DetectedRecord[] }
  | { readonly end: true }
  | { readonly events: readonly RecordValues[] }
);

/** A match, without the rule. */
export type EventMatch = Pick<Match, 'ruleId' | 'fields'>;

export interface RuleReply {
  readonly id: number;
  readonly signals?: readonly DetectionSignal[];
  readonly matches?: readonly (readonly EventMatch[])[];
}

/** Rules that run in a thread. Everything rejects with `RulesTookTooLong` once the time is over. */
export interface RunningRules {
  /** Signals that the stream gives for records, which come in the order of their times. */
  signalsOf(records: readonly DetectedRecord[]): Promise<readonly DetectionSignal[]>;
  /** Signals of windows that were waiting for their end. */
  end(): Promise<readonly DetectionSignal[]>;
  /** What each event matches by itself. */
  matchesOf(events: readonly RecordValues[]): Promise<readonly (readonly EventMatch[])[]>;
}

export class RulesTookTooLong extends QueryError {
  constructor(budgetMs: number) {
    super(
      'VALIDATION_FAILED',
      `the rules took longer than ${budgetMs / 1000} seconds over these events: ask for fewer events, or for less in the rules`,
    );
  }
}

export interface RuleRun {
  readonly tenantId: string;
  /** When exceptions are looked at. */
  readonly nowMs: number;
  /** How long it may take once it has a thread; how long it waits for one is the caller's, by `signal`. */
  readonly budgetMs: number;
  readonly signal?: AbortSignal | undefined;
}

const threadMemoryMb = 1024;
const waitingPerTenant = 50;
/** An organization's look back leaves a thread to others. */
const slots = 2;

/** Threads of one purpose. They start when they are needed. */
export class RuleThreads {
  readonly #turns = new Turns({ slots, slotsPerTenant: 1, waitingPerTenant });
  readonly #idle: PoolThread<RuleReply>[] = [];

  /** Deploys rules in a thread for the time of `work`. What an abort or the budget ends is ended at once. */
  async run<Result>(
    toDeploy: ToDeploy,
    { tenantId, nowMs, budgetMs, signal }: RuleRun,
    work: (rules: RunningRules) => Promise<Result>,
  ): Promise<Result> {
    const leave = await this.#turnOf(tenantId, signal);
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new RulesTookTooLong(budgetMs)), budgetMs);
    const ending = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await work(await deployed(thread, { toDeploy, nowMs, ending }));
    } finally {
      clearTimeout(timer);
      if (ending.aborted || thread.isDead) void thread.end();
      else this.#idle.push(thread);
      leave();
    }
  }

  async #turnOf(tenantId: string, signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return await this.#turns.take(tenantId, signal);
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      const message = `${waitingPerTenant} runs of detection rules of this organization are waiting already`;
      throw new QueryError('RATE_LIMITED', message, undefined, { retryAfterSeconds: 10 });
    }
  }

  #start(): PoolThread<RuleReply> {
    const worker = new Worker(new URL('./rule-worker.ts', import.meta.url), {
      name: 'rules',
      resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
    });
    const thread: PoolThread<RuleReply> = new PoolThread(worker, 'rules', () => {
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    // Only now: a thread that is listened to keeps the process.
    worker.unref();
    return thread;
  }
}

type Asked<Request = RuleRequest> = Request extends unknown ? Omit<Request, 'id'> : never;

const deployed = async (
  thread: PoolThread<RuleReply>,
  { toDeploy, nowMs, ending }: { toDeploy: ToDeploy; nowMs: number; ending: AbortSignal },
): Promise<RunningRules> => {
  const stop = (): void => void thread.end();
  const ask = async (asked: Asked): Promise<RuleReply> => {
    ending.throwIfAborted();
    ending.addEventListener('abort', stop, { once: true });
    try {
      return await thread.ask((id) => ({ ...asked, id }));
    } catch (error) {
      ending.throwIfAborted();
      throw error;
    } finally {
      ending.removeEventListener('abort', stop);
    }
  };
  await ask({ deploy: toDeploy, nowMs });
  return {
    signalsOf: async (records) => (await ask({ records })).signals ?? [],
    end: async () => (await ask({ end: true })).signals ?? [],
    matchesOf: async (events) => (await ask({ events })).matches ?? [],
  };
};
