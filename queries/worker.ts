/** Reads long texts in a thread, so that the process goes on meanwhile. */
import { QueryError } from './errors.ts';
import { type Budget, BudgetThreads } from './limits/budget-threads.ts';

export interface CallRequest {
  readonly id: number;
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type CallReply = { readonly id: number } & ({ readonly result: unknown } | { readonly error: unknown });

/** Who sent the text. */
export type Reader = Omit<Budget, 'budgetMs'>;

/** YAML of so many characters takes 60 ms at most; a thread has a start and two copies. */
const shortCharacters = 16_384;
const budgetMs = 40_000;
/** A text of 1 MiB takes 400 MB as the nodes of its YAML. */
const memoryMb = 1024;

const threads = new BudgetThreads<CallReply>({
  name: 'reading',
  module: new URL('./call-worker.ts', import.meta.url),
  memoryMb,
  works: 'long texts',
});

const refused = (excess: string) => (): QueryError =>
  new QueryError('VALIDATION_FAILED', `reading this took ${excess}: send less at once`);

const refusals = {
  tooLong: refused(`longer than ${budgetMs / 1000} seconds`),
  tooLarge: refused(`more than ${memoryMb} MB of memory`),
};

/** Characters of a text, bytes of what is packed. */
const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;

const buffersOf = (args: readonly unknown[]): ArrayBuffer[] =>
  args.flatMap((value) => (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : []));

/**
 * The same function, which reads short texts at once and long ones in a thread. The module has to export it under its own name, and what it
 * is given and gives has to be data. What it throws loses its class in a thread: what is wrong with a text has to be in its result.
 * `moves`: bytes that it is given are not copied, which takes 30 ms for 60 MB; they are gone for who gives them.
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
      sendRequest((id): CallRequest => ({ id, module, name: read.name, args }), moves ? buffersOf(args) : []),
    );
    if ('error' in reply) throw reply.error;
    return reply.result as Result;
  };
