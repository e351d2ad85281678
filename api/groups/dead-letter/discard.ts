import { z } from 'zod';
import { ApiError, notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const discardDeadLetter = defineOperation({
  method: 'DELETE',
  path: '/api/dead-letter/{id}',
  operationId: 'discardDeadLetter',
  summary: 'Discard a dead letter, so that it is never replayed',
  role: 'admin',
  audit: 'dead-letter.discard',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: z.strictObject({}),
  async handler({ caller: { tenantId, actor }, params: { id }, change }, { deadLetters }) {
    const page = await deadLetters.list({ tenantId, ids: [id] }, { limit: 1 });
    const [letter] = page.items;
    if (letter === undefined) throw notFound('dead letter');
    const { state } = letter;
    if (state === 'open')
      await change(async ({ record }) => record({ id, before: { state }, after: { state: 'discarded' } }));
    const { done } = await deadLetters.discard({ tenantId, ids: [id] }, { actor: `${actor.type} ${actor.name}` });
    if (done === 0) throw new ApiError('CONFLICT', 'this dead letter was already replayed or discarded');
    return {};
  },
});
