import { type Transact, transactFor } from '../../api/kernel/changes.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import { type Documents, defineCollection } from '../../schemas/ports/documents.ts';

export const things = defineCollection<{ n: number }>({ name: 'things', unique: [['n']] });

/** Changes as an operation of nobody in particular makes them. */
export const changesFor = (documents: Documents, tenantId: string, clock: Clock = systemClock): Transact =>
  transactFor(
    { documents, clock },
    {
      caller: { tenantId, actor: { type: 'user', id: 'u1', name: 'ann@a.example' } } as never,
      request: { requestId: 'r1', address: '192.0.2.1' },
      actions: ['thing.create', 'thing.update'],
    },
  );
