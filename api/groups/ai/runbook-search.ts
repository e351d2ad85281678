import { z } from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { EmbeddingUsage } from './embeddings.ts';
import { PassageView, searchPassages, sourcesField, toPassageView, UnreadSources } from './passages.ts';

export const searchRunbooks = defineOperation({
  method: 'POST',
  path: '/api/ai/rag/search',
  operationId: 'searchRunbooks',
  summary:
    'Find passages of runbooks, resolved incidents, alert rules, log patterns and READMEs for a text, for example that of an alert',
  role: 'viewer',
  auditExemption: 'read-only',
  body: z.strictObject({
    query: z
      .string()
      .min(1)
      .max(16_384)
      .describe('If it has more than 200 different words, only the first 200 are searched'),
    limit: z.int().min(1).max(50).default(10),
    sources: sourcesField,
  }),
  response: z.strictObject({
    items: z.array(PassageView).describe('Passages, the best first'),
    notRead: UnreadSources,
    embeddings: EmbeddingUsage,
  }),
  async handler({ caller, body, request, signal }, ports) {
    const { query: question, limit, sources } = body;
    const searchResult = await searchPassages({ question, limit, sources }, { caller, ports, request, signal });
    const { passages, ...rest } = searchResult;
    return { items: passages.map(toPassageView), ...rest };
  },
});
