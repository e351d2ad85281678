import { z } from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { DeadLetterView, viewOf } from './views.ts';

const maxShownBytes = 1024 * 1024;

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
    truncated: z.boolean().describe(`Whether the payload is larger than the ${maxShownBytes} bytes shown`),
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
