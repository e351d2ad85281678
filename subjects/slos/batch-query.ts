/** Combines equal queries of SLOs at one time into one statement */
import type { QueryBatcher } from '../../queries/batch/query-batcher.ts';

/** Delay in which queries of SLOs that are due in the same check are collected */
const batchDelayMs = 20;

interface PendingBatch {
  readonly members: Set<string>;
  readonly result: Promise<unknown>;
}

const pendingBatches = new WeakMap<QueryBatcher, Map<string, PendingBatch>>();

/**
 * Returns the result of `read` for all callers with the same key within a few milliseconds; their members are the
 * query's subjects. Reads in a slot of the organization. The result must have the same form for all calls with a key.
 */
export const batchQuery = async <Result>(
  batcher: QueryBatcher,
  { key, member }: { readonly key: string; readonly member: string },
  read: (members: readonly string[]) => Promise<Result>,
): Promise<Result> => {
  const batchesByKey = pendingBatches.get(batcher) ?? new Map<string, PendingBatch>();
  pendingBatches.set(batcher, batchesByKey);
  const pendingBatch = batchesByKey.get(key);
  pendingBatch?.members.add(member);
  if (pendingBatch !== undefined) return pendingBatch.result as Promise<Result>;
  const members = new Set([member]);
  // Callers that arrive after the read starts, or after a slot is rejected, are not members.
  const close = (): void => {
    if (batchesByKey.get(key)?.members === members) batchesByKey.delete(key);
  };
  const result = (async () => {
    await new Promise((resolve) => setTimeout(resolve, batchDelayMs));
    return batcher.runInSlot(() => {
      close();
      return read([...members]);
    });
  })().finally(close);
  batchesByKey.set(key, { members, result });
  return result;
};
