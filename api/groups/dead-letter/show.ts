import { z } from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { DeadLetterView, viewOf } from './views.ts';

const maxShownBytes = 1024 * 1024;

export const showDeadLetter = defineOperation({
  method: 'GET',
  path: '/api/dead-letter/{id}',
  operationId: 'getDeadLetter',
  summary: 'One dead letter, with its bytes and what is wrong where',
  role: 'admin',
  audit: 'dead-letter.read',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: DeadLetterView.extend({
    contentType: z.string(),
    contentEncoding: z.string(),
    format: z.string().describe('How a replay reads the bytes, for example loki-json; empty where a consumer gave up'),
    payload: z.string().nullable().describe('Base64 of the bytes as received; null when they are no longer kept'),
    truncated: z.boolean().describe(`The payload is larger than the ${maxShownBytes} bytes shown`),
  }),
  async handler({ caller, params }, { deadLetters }) {
    const found = await deadLetters.show(params.id, caller.tenantId);
    if (found === undefined) throw notFound('dead letter');
    const { letter, payload } = found;
    return {
      ...viewOf(letter),
      contentType: payload?.headers.contentType ?? '',
      contentEncoding: payload?.headers.contentEncoding ?? '',
      format: payload?.headers.format ?? '',
      payload: payload?.bytes.subarray(0, maxShownBytes).toString('base64') ?? null,
      truncated: (payload?.bytes.length ?? 0) > maxShownBytes,
    };
  },
});
