/** Parses long texts in a worker, so that the process stays responsive. */
import type { CallReply, CallRequest } from './call-messages.ts';
import { QueryError } from './errors.ts';
import { type Budget, BudgetThreads } from './limits/budget-threads.ts';

/** Sender of the text. */
export type Reader = Omit<Budget, 'budgetMs'>;

/** YAML of this many characters takes at most 60 ms; a worker costs a start and two copies. */
const shortCharacters = 16_384;
const budgetMs = 40_000;
/** A text of 1 MiB needs 400 MB for its YAML nodes. */
const memoryMb = 1024;

const threads = new BudgetThreads<CallReply>({
  name: 'reading',
  module: new URL('./call-worker.ts', import.meta.url),
  memoryMb,
  works: 'long texts',
});

const setup: { module?: string } = {};

/** Sets the URL of a module that workers import first, such as one that registers definitions. */
export const importInWorkers = (module: string): void => {
  setup.module = module;
};

const refused = (excess: string) => (): QueryError =>
  new QueryError('VALIDATION_FAILED', `reading this took ${excess}: send less at once`);

const refusals = {
  tooLong: refused(`longer than ${budgetMs / 1000} seconds`),
  tooLarge: refused(`more than ${memoryMb} MB of memory`),
};

/** Returns characters of a text, bytes of packed data. */
const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;

const buffersOf = (args: readonly unknown[]): ArrayBuffer[] =>
  args.flatMap((value) => (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : []));

/**
 * Returns a function that runs short texts directly and long ones in a worker. The module must export the function
 * under its own name, and arguments and results must be serializable. Errors lose their class in a worker, so errors
 * about a text must be part of the result.
 *
 * With `moves`, byte arguments are transferred instead of copied, which would take 30 ms for 60 MB; the caller cannot
 * use them afterwards.
 */
export const inWorker =
  <Args extends readonly unknown[], Result>(
    module: string,
    read: (...args: Args) => Result,
    { moves = false }: { readonly moves?: boolean } = {},
  ) =>
  async (reader: Reader, ...args: Args): Promise<Result> => {
    if (args.reduce<number>((sum, value) => sum + lengthOf(value), 0) <= shortCharacters) return read(...args);
    const reply = await threads.run({ ...reader, budgetMs }, refusals, (sendRequest) =>
      sendRequest(
        (id): CallRequest => ({ id, setup: setup.module, module, name: read.name, args }),
        moves ? buffersOf(args) : [],
      ),
    );
    if ('error' in reply) throw reply.error;
    return reply.result as Result;
  };
