import { AsyncLocalStorage } from 'node:async_hooks';
import type { Documents } from '../../schemas/ports/documents.ts';

const locks = new WeakMap<Documents, Map<string, Promise<unknown>>>();
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
  const chains = locks.get(documents) ?? new Map<string, Promise<unknown>>();
  locks.set(documents, chains);
  const run = (): Promise<Result> => held.run(true, work);
  const last = (chains.get(tenantId) ?? Promise.resolve()).then(run, run);
  chains.set(tenantId, last);
  const forget = (): void => {
    if (chains.get(tenantId) === last) chains.delete(tenantId);
  };
  last.then(forget, forget);
  return last;
};
