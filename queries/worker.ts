/** Parses long texts in a worker, so that the process stays responsive. */
import type { CallReply, CallRequest } from './call-messages.ts';
import { QueryError } from './errors.ts';
import { type Budget, BudgetThreads } from './limits/budget-threads.ts';

/** Organization that sent the text, and the abort signal of its request. */
export type WorkerRequester = Omit<Budget, 'budgetMs'>;

/**
 * Maximum number of characters to process without a worker: YAML of this length takes at most 20 ms, and a worker costs
 * a start and two copies.
 */
const maxDirectCharacters = 2048;
/** The longest allowed texts take 2 seconds on an idle machine. */
const budgetMs = 15_000;
/** A text of 1 MiB needs 400 MB for its YAML nodes. */
const memoryMb = 1024;

const threads = new BudgetThreads<CallReply>({
  name: 'reading',
  module: new URL('./call-worker.ts', import.meta.url),
  memoryMb,
  workDescription: 'long texts',
});

const workerSetup: { module?: string } = {};

/** Sets the URL of a module that workers import first, such as one that registers definitions. */
export const setWorkerSetupModule = (module: string): void => {
  workerSetup.module = module;
};

const createLimitError = (excess: string) => (): QueryError =>
  new QueryError('VALIDATION_FAILED', `reading this took ${excess}: send less at once`);

const limitErrors = {
  createTimeoutError: createLimitError(`longer than ${budgetMs / 1000} seconds`),
  createMemoryError: createLimitError(`more than ${memoryMb} MB of memory`),
};

/** Returns the number of characters of a text, or of bytes of binary data; 0 for other values. */
const getLength = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;

const listBuffers = (args: readonly unknown[]): ArrayBuffer[] =>
  args.flatMap((value) => (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : []));

/**
 * Returns a function that runs short texts directly and long ones in a worker. The module must export the function
 * under its own name, and arguments and results must be serializable. Errors lose their class in a worker, so errors
 * about a text must be part of the result.
 *
 * With `transfersBytes`, byte arguments are transferred instead of copied, which would take 30 ms for 60 MB; the caller cannot
 * use them afterwards.
 */
export const runInWorker =
  <Args extends readonly unknown[], Result>(
    module: string,
    parse: (...args: Args) => Result,
    { transfersBytes = false }: { readonly transfersBytes?: boolean } = {},
  ) =>
  async (requester: WorkerRequester, ...args: Args): Promise<Result> => {
    if (args.reduce<number>((sum, value) => sum + getLength(value), 0) <= maxDirectCharacters) return parse(...args);
    const reply = await threads.run({ ...requester, budgetMs }, limitErrors, (sendRequest) =>
      sendRequest(
        (id): CallRequest => ({ id, setup: workerSetup.module, module, name: parse.name, args }),
        transfersBytes ? listBuffers(args) : [],
      ),
    );
    if ('error' in reply) throw reply.error;
    return reply.result as Result;
  };
