/** Combines equal queries of SLOs at one time into one statement */
import type { QueryBatcher } from '../../queries/batch/answers.ts';

/** Delay in which queries of SLOs that are due in the same check are collected */
const gatherMs = 20;

interface PendingBatch {
  readonly members: Set<string>;
  readonly found: Promise<unknown>;
}

const pendingBatches = new WeakMap<QueryBatcher, Map<string, PendingBatch>>();

/**
 * Returns the result of `read` for all callers with the same key within a few milliseconds; their members are the
 * query's subjects. Reads in a slot of the organization. The result must have the same form for all calls with a key.
 */
export const batchQuery = async <Found>(
  answers: QueryBatcher,
  { key, member }: { readonly key: string; readonly member: string },
  read: (members: readonly string[]) => Promise<Found>,
): Promise<Found> => {
  const ownBatches = pendingBatches.get(answers) ?? new Map<string, PendingBatch>();
  pendingBatches.set(answers, ownBatches);
  const known = ownBatches.get(key);
  known?.members.add(member);
  if (known !== undefined) return known.found as Promise<Found>;
  const members = new Set([member]);
  // Callers that arrive after the read starts, or after a slot is refused, are not members.
  const close = (): void => {
    if (ownBatches.get(key)?.members === members) ownBatches.delete(key);
  };
  const found = (async () => {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    return answers.runInSlot(() => {
      close();
      return read([...members]);
    });
  })().finally(close);
  ownBatches.set(key, { members, found });
  return found;
};
