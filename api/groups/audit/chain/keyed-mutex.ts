import { AsyncLocalStorage } from 'node:async_hooks';
import { KeyedMutex } from '../../../../runtime/keyed-mutex.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';

const mutexes = new WeakMap<Documents, KeyedMutex>();
const mutexContext = new AsyncLocalStorage<true>();

/**
 * Runs the changes to a chain one after another within this process. Every change writes the end of the chain, so
 * parallel transactions would conflict and restart repeatedly. Changes in different processes can still conflict.
 */
export const runExclusive = <Result>(
  documents: Documents,
  tenantId: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  // A change within a change would wait for itself; the store rejects it.
  if (mutexContext.getStore()) return work();
  const mutex = mutexes.get(documents) ?? new KeyedMutex();
  mutexes.set(documents, mutex);
  return mutex.run(tenantId, () => mutexContext.run(true, work));
};
