import { AsyncLocalStorage } from 'node:async_hooks';
import { KeyedMutex } from '../../runtime/keyed-mutex.ts';
import type { Documents } from '../../schemas/ports/documents.ts';

const mutexes = new WeakMap<Documents, KeyedMutex>();
const held = new AsyncLocalStorage<true>();

/**
 * A mutex for each chain: changes of one run one after the other within this process. All of them meet at the chain's end, where
 * a store that runs transactions side by side would have them start again and again; so only instances still do.
 */
export const runExclusive = <Result>(
  documents: Documents,
  tenantId: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  // A change within a change would wait for itself; the store refuses it.
  if (held.getStore()) return work();
  const mutex = mutexes.get(documents) ?? new KeyedMutex();
  mutexes.set(documents, mutex);
  return mutex.run(tenantId, () => held.run(true, work));
};
