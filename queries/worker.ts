/** Processes long texts and results in a worker, so that the process stays responsive. */
import type { CallReply, CallRequest } from './call-messages.ts';
import { QueryError } from './errors.ts';
import { type Budget, BudgetThreads, type LimitErrors } from './limits/budget-threads.ts';

/** Organization that sent the text, and the abort signal of its request. */
export type WorkerRequester = Omit<Budget, 'budgetMs'>;

/**
 * Maximum number of characters to process without a worker: YAML of this length takes at most 20 ms, and a worker costs
 * a start and two copies.
 */
const maxDirectCharacters = 2048;
/** The longest allowed texts and traces take 2 seconds on an idle machine. */
const budgetMs = 15_000;
/** A text of 1 MiB needs 400 MB for its YAML nodes. */
const memoryMb = 1024;
/** Of reports of up to 100 MB. */
const reportBudgetMs = 60_000;
const reportMemoryMb = 3072;

interface Pool {
  readonly threads: BudgetThreads<CallReply>;
  readonly limitErrors: LimitErrors;
  /** Whether its work needs what `setWorkerSetupModule` registers. */
  readonly needsSetup: boolean;
  readonly budgetMs: number;
}

/** Traces and source maps have threads of their own, because a reader should not wait for the imports of an organization. */
const pools = {
  texts: {
    threads: startThreads('reading', 'long texts'),
    limitErrors: createLimitErrors((excess) => `reading this took ${excess}: send less at once`),
    needsSetup: true,
    budgetMs,
  },
  traces: {
    threads: startThreads('trace-analysis', 'long traces'),
    limitErrors: createLimitErrors((excess) => `analyzing this trace took ${excess}`),
    needsSetup: false,
    budgetMs,
  },
  reports: {
    threads: startThreads('reports', 'reports of scanners', reportMemoryMb),
    limitErrors: createLimitErrors(
      (excess) => `reading this report took ${excess}: send a smaller one`,
      reportBudgetMs,
      reportMemoryMb,
    ),
    needsSetup: false,
    budgetMs: reportBudgetMs,
  },
  sourceMaps: {
    threads: startThreads('source-maps', 'source maps'),
    limitErrors: createLimitErrors((excess) => `reading these source maps took ${excess}: send fewer at once`),
    needsSetup: false,
    budgetMs,
  },
} as const satisfies Readonly<Record<string, Pool>>;

const workerSetup: { module?: string } = {};

/** Sets the URL of a module that workers import first, such as one that registers definitions. */
export const setWorkerSetupModule = (module: string): void => {
  workerSetup.module = module;
};

function startThreads(name: string, workDescription: string, maxMemoryMb = memoryMb): BudgetThreads<CallReply> {
  return new BudgetThreads({
    name,
    module: new URL('./call-worker.ts', import.meta.url),
    memoryMb: maxMemoryMb,
    workDescription,
  });
}

function createLimitErrors(
  describe: (excess: string) => string,
  maxMs = budgetMs,
  maxMemoryMb = memoryMb,
): LimitErrors {
  const createLimitError = (excess: string) => (): QueryError => new QueryError('VALIDATION_FAILED', describe(excess));
  return {
    createTimeoutError: createLimitError(`longer than ${maxMs / 1000} seconds`),
    createMemoryError: createLimitError(`more than ${maxMemoryMb} MB of memory`),
  };
}

/** Returns the number of characters of a text, or of bytes of binary data or a list of it; 0 for other values. */
const getLength = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + getLength(item), 0);
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
};

/** Returns the memory of byte arguments, except parts of a larger memory, such as Node's pool, which others use. */
const listBuffers = (args: readonly unknown[]): ArrayBuffer[] =>
  args
    .flat()
    .flatMap((value) =>
      value instanceof Uint8Array && value.buffer instanceof ArrayBuffer && value.length === value.buffer.byteLength
        ? [value.buffer]
        : [],
    );

export interface WorkerOptions {
  readonly transfersBytes?: boolean;
  readonly pool?: keyof typeof pools;
}

/**
 * Returns a function that runs short texts directly and long ones in a worker. The module must export the function
 * under its own name, and arguments and results must be serializable. Errors lose their class in a worker, so errors
 * about a text must be part of the result.
 *
 * With `transfersBytes`, byte arguments with a memory of their own are transferred instead of copied, which would take 30 ms
 * for 60 MB; the caller cannot use them afterwards.
 */
export const runInWorker =
  <Args extends readonly unknown[], Result>(
    module: string,
    parse: (...args: Args) => Result,
    { transfersBytes = false, pool = 'texts' }: WorkerOptions = {},
  ) =>
  async (requester: WorkerRequester, ...args: Args): Promise<Result> => {
    if (args.reduce<number>((sum, value) => sum + getLength(value), 0) <= maxDirectCharacters) return parse(...args);
    const { threads, limitErrors, needsSetup, budgetMs: maxMs } = pools[pool];
    const setup = needsSetup ? workerSetup.module : undefined;
    const reply = await threads.run({ ...requester, budgetMs: maxMs }, limitErrors, (sendRequest) =>
      sendRequest(
        (id): CallRequest => ({ id, setup, module, name: parse.name, args }),
        transfersBytes ? listBuffers(args) : [],
      ),
    );
    if ('error' in reply) throw reply.error;
    return reply.result as Result;
  };
