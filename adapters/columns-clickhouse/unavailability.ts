/** Ends work on servers that do not respond to probes. */
import type { UnavailableError } from '../../schemas/errors.ts';
import type { MemberWatch } from '../../schemas/ports/store-members.ts';

/**
 * Work that runs on the only server with some rows is not rejected before this much more silence: a server with much
 * work may answer a probe late.
 */
export const onlyServerGraceMs = 10_000;

/**
 * Runs work that needs available servers; `findError` returns an error while one is unavailable. Rejects with it at
 * once, without a start of the work, or when servers stay unavailable for `graceMs` during the work. Then it calls
 * `onAbandoned`, and the work continues.
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
