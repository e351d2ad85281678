import { createTransact, type Transact } from '../../api/changes.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import { type Documents, defineCollection } from '../../schemas/ports/documents.ts';

export const testCollection = defineCollection<{ n: number }>({ name: 'things', unique: [['n']] });

/** Runs changes as operations do. Like a client, it retries changes that exceed the transaction time limit. */
export const changesFor = (documents: Documents, tenantId: string, clock: Clock = systemClock): Transact => {
  const transact = createTransact(
    { documents, clock },
    {
      caller: { tenantId, actor: { type: 'user', id: 'u1', name: 'ann@a.example' } } as never,
      request: { requestId: 'r1', address: '192.0.2.1' },
      actions: ['thing.create', 'thing.update'],
    },
  );
  return (work) => patiently(() => transact(work));
};

/** Retries while the store has no time for the change. */
export const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries === 10) throw error;
    }
  }
};
