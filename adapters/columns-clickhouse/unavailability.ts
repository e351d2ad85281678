/** Rejects operations on servers that do not respond to probes. */
import type { UnavailableError } from '../../schemas/errors.ts';
import type { MemberWatch } from '../../schemas/ports/store-members.ts';

/**
 * Additional time without a response before an operation is rejected whose server is the only one with some of the
 * rows. A busy server may respond to a probe late, and no other server can do the work.
 */
export const onlyServerGraceMs = 10_000;

/**
 * Runs an operation that needs available servers. `findError` returns an error while one of them is unavailable.
 * If it returns an error at the start, the promise rejects without starting the operation. If servers are unavailable
 * for `graceMs` during the operation, the promise rejects and `onAbandoned` is called; the operation itself continues.
 */
export const runWhileAvailable = async <Result>(
  work: () => Promise<Result>,
  {
    watch,
    findError,
    graceMs,
    onAbandoned,
  }: {
    readonly watch: Pick<MemberWatch, 'subscribe'>;
    readonly findError: () => UnavailableError | undefined;
    readonly graceMs: number;
    readonly onAbandoned?: () => void;
  },
): Promise<Result> => {
  const initialError = findError();
  if (initialError !== undefined) throw initialError;
  const { promise: unavailable, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const unsubscribe = watch.subscribe(() => {
    const error = findError();
    if (error === undefined) {
      clearTimeout(timer);
      timer = undefined;
    } else
      timer ??= setTimeout(() => {
        onAbandoned?.();
        reject(error);
      }, graceMs);
  });
  try {
    return await Promise.race([work(), unavailable]);
  } finally {
    unsubscribe();
    clearTimeout(timer);
  }
};
