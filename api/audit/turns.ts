import { AsyncLocalStorage } from 'node:async_hooks';
import type { Documents } from '../../schemas/ports/documents.ts';

const lastTurns = new WeakMap<Documents, Map<string, Promise<unknown>>>();
const inside = new AsyncLocalStorage<true>();

/**
 * Runs changes of one chain one after the other within this process. All of them meet at the chain's head, where a store
 * that runs transactions side by side would have them start again and again; so only instances still do.
 */
export const inTurn = <Result>(
  documents: Documents,
  tenantId: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  // A change within a change would wait for itself; the store refuses it.
  if (inside.getStore()) return work();
  const chains = lastTurns.get(documents) ?? new Map<string, Promise<unknown>>();
  lastTurns.set(documents, chains);
  const run = (): Promise<Result> => inside.run(true, work);
  const turn = (chains.get(tenantId) ?? Promise.resolve()).then(run, run);
  chains.set(tenantId, turn);
  const forget = (): void => {
    if (chains.get(tenantId) === turn) chains.delete(tenantId);
  };
  turn.then(forget, forget);
  return turn;
};
