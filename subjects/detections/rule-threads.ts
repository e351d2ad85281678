/**
 * Threads that run rules over stored records or test events. The time that a rule takes for a record is not bounded,
 * and other requests must not wait for it.
 */
import { QueryError } from '../../queries/errors.ts';
import { type Budget, BudgetThreads, type SendRequest } from '../../queries/limits/budget-threads.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import type { DeploymentSource } from './deployment.ts';
import type { DetectedRecord } from './detect.ts';
import type { RecordValues } from './record-event.ts';
import type { EventMatch, RuleReply, RuleRequest } from './rule-messages.ts';

/** Rules that run in a worker thread. All calls reject with `RulesTimeoutError` after the time limit. */
export interface RunningRules {
  /** Returns the signals that the stream emits for records, given in time order. */
  detectSignals(records: readonly DetectedRecord[]): Promise<readonly DetectionSignal[]>;
  /** Returns the signals of windows that were still open. */
  endWindows(): Promise<readonly DetectionSignal[]>;
  /** Returns the matches of each event by itself. */
  findMatches(events: readonly RecordValues[]): Promise<readonly (readonly EventMatch[])[]>;
}

export class RulesTimeoutError extends QueryError {
  constructor(budgetMs: number) {
    super(
      'VALIDATION_FAILED',
      `the rules took longer than ${budgetMs / 1000} seconds for these events: use fewer events or simpler rules`,
    );
  }
}

const memoryMb = 1024;

const createMemoryError = (): QueryError =>
  new QueryError(
    'VALIDATION_FAILED',
    `the rules used more than ${memoryMb} MB of memory for these events: use fewer or smaller events, or simpler rules`,
  );

export interface RuleRun extends Budget {
  /** Time at which exceptions are checked for expiry */
  readonly nowMs: number;
}

/** Worker threads of one purpose, started on demand */
export class RuleThreads {
  readonly #threads = new BudgetThreads<RuleReply>({
    name: 'rules',
    module: new URL('./rule-worker.ts', import.meta.url),
    memoryMb,
    workDescription: 'runs of detection rules',
  });

  /**
   * Deploys rules in a worker thread for the duration of `work`. An abort or an exceeded budget terminates the thread
   * immediately.
   */
  run<Result>(
    source: DeploymentSource,
    { nowMs, ...budget }: RuleRun,
    work: (rules: RunningRules) => Promise<Result>,
  ): Promise<Result> {
    const limitErrors = { createTimeoutError: () => new RulesTimeoutError(budget.budgetMs), createMemoryError };
    return this.#threads.run(budget, limitErrors, async (sendRequest) =>
      work(await deployRules(sendRequest, source, nowMs)),
    );
  }
}

type RequestFields<Request = RuleRequest> = Request extends unknown ? Omit<Request, 'id'> : never;

const deployRules = async (
  sendRequest: SendRequest<RuleReply>,
  source: DeploymentSource,
  nowMs: number,
): Promise<RunningRules> => {
  const request = (fields: RequestFields): Promise<RuleReply> => sendRequest((id) => ({ ...fields, id }));
  await request({ deploy: source, nowMs });
  return {
    detectSignals: async (records) => (await request({ records })).signals ?? [],
    endWindows: async () => (await request({ end: true })).signals ?? [],
    findMatches: async (events) => (await request({ events })).matches ?? [],
  };
};
