import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { parseMilliseconds } from '../../../queries/range.ts';
import { DeadLetterView } from '../../../subjects/dead-letters/dead-letters.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { filterFields, toDeadLetterView } from './views.ts';

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
  async handler({ caller: { tenantId }, query, signal }, { deadLetters, clock }) {
    const { from, to, limit, cursor, ...filter } = query;
    const now = clock.now();
    const range = { fromMs: parseMilliseconds('from', from, now), toMs: parseMilliseconds('to', to, now) };
    const page = await deadLetters.list({ ...filter, ...range, tenantId }, { limit, cursor, signal });
    return { items: page.items.map(toDeadLetterView), nextCursor: page.nextCursor };
  },
});

const maxPayloadBytes = 1024 * 1024;

export const showDeadLetter = defineOperation({
  method: 'GET',
  path: '/api/dead-letter/{id}',
  operationId: 'getDeadLetter',
  summary: 'Get a dead letter, with its payload and the error',
  role: 'admin',
  audit: 'dead-letter.read',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: DeadLetterView.extend({
    contentType: z.string(),
    contentEncoding: z.string(),
    format: z
      .string()
      .describe(
        'Format in which a replay reads the payload, for example loki-json; empty if a consumer could not process it',
      ),
    payload: z.string().nullable().describe('Base64 of the payload as received; null if it is no longer stored'),
    sealed: z
      .boolean()
      .describe('Whether the payload is encrypted, because a browser sent it; a replay decrypts the payload'),
    truncated: z.boolean().describe(`Whether the payload is larger than the ${maxPayloadBytes} bytes shown`),
  }),
  async handler({ caller, params, signal }, { deadLetters }) {
    const deadLetterWithPayload = await deadLetters.show(params.id, caller.tenantId, signal);
    if (deadLetterWithPayload === undefined) throw createNotFoundError('dead letter');
    const { deadLetter, payload } = deadLetterWithPayload;
    return {
      ...toDeadLetterView(deadLetter),
      contentType: payload?.headers.contentType ?? '',
      contentEncoding: payload?.headers.contentEncoding ?? '',
      format: payload?.headers.format ?? '',
      payload: payload?.bytes.subarray(0, maxPayloadBytes).toString('base64') ?? null,
      sealed: payload?.headers.isSealed ?? false,
      truncated: (payload?.bytes.length ?? 0) > maxPayloadBytes,
    };
  },
});

export const discardDeadLetter = defineOperation({
  method: 'DELETE',
  path: '/api/dead-letter/{id}',
  operationId: 'discardDeadLetter',
  summary: 'Discard a dead letter, so that it is never replayed',
  role: 'admin',
  audit: 'dead-letter.discard',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: z.strictObject({}),
  async handler({ caller: { tenantId, actor }, params: { id }, signal, change }, { deadLetters }) {
    const [deadLetter] = (await deadLetters.list({ tenantId, ids: [id] }, { limit: 1, signal })).items;
    if (deadLetter === undefined) throw createNotFoundError('dead letter');
    const { state } = deadLetter;
    if (state === 'open')
      await change(async ({ record }) => record({ id, before: { state }, after: { state: 'discarded' } }));
    const { done } = await deadLetters.discard({ tenantId, ids: [id] }, { actor: `${actor.type} ${actor.name}` });
    if (done === 0) throw new ApiError('CONFLICT', 'this dead letter was already replayed or discarded');
    return {};
  },
});
