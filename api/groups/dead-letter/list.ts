import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { millisecondsOf } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { DeadLetterView, filterFields, viewOf } from './views.ts';

export const listDeadLetters = defineOperation({
  method: 'GET',
  path: '/api/dead-letter',
  operationId: 'listDeadLetters',
  summary: 'List dead letters, newest first',
  role: 'admin',
  query: z.strictObject({
    ...filterFields,
    state: z.enum(['open', 'replayed', 'discarded']).optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(DeadLetterView), nextCursor: z.string().nullable() }),
  async handler({ caller: { tenantId }, query: { from, to, limit, cursor, ...filter } }, { deadLetters, clock }) {
    const now = clock.now();
    const range = { fromMs: millisecondsOf('from', from, now), toMs: millisecondsOf('to', to, now) };
    const page = await deadLetters.list({ ...filter, ...range, tenantId }, { limit, cursor });
    return { items: page.items.map(viewOf), nextCursor: page.nextCursor };
  },
});
