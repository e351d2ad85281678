import { createTransact, type Transact } from '../../api/changes.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import { type Documents, defineCollection } from '../../schemas/ports/documents.ts';

export const testCollection = defineCollection<{ n: number }>({ name: 'things', unique: [['n']] });

/** Changes as an operation makes them. One that takes longer than a transaction may is asked again, as a client would: the machine may be busy. */
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

/** Does it again while the store has no time for it. */
export const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries === 10) throw error;
    }
  }
};
