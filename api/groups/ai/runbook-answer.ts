import { z } from 'zod';
import { parseRange } from '../../../queries/range.ts';
import { TimeText } from '../../../queries/time-parameters.ts';
import { selectBestSentences } from '../../../subjects/runbooks/sentences.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { EmbeddingUsage } from './embeddings.ts';
import { QueryResult, runNamedQueries } from './named-figures.ts';
import { PassageView, searchPassages, sourcesField, toPassageView, UnreadSources } from './passages.ts';
import { timeZoneField } from './requested-time-zone.ts';
import { answerWithModel } from './worded-answer.ts';

/** Maximum passages of an answer */
const maxPassages = 8;

export const answerFromRunbooks = defineOperation({
  method: 'POST',
  path: '/api/ai/rag/answer',
  operationId: 'answerFromRunbooks',
  summary:
    'Answer a question with sentences of runbooks and similar sources, with their passages, and with results of queries',
  role: 'viewer',
  auditExemption: 'read-only',
  body: z.strictObject({
    question: z.string().min(1).max(16_384),
    sources: sourcesField,
    labels: z
      .record(z.string().max(256), z.string().max(1024))
      .refine((labels) => Object.keys(labels).length <= 100, 'must have at most 100 labels')
      .default({})
      .describe('Labels of an alert: they fill placeholders in PromQL of runbooks, such as instance="<instance>"'),
    timeZone: timeZoneField,
    from: TimeText.default('now-1h').describe('Default for queries without a time'),
    to: TimeText.default('now').describe('Default for queries without a time'),
  }),
  response: z.strictObject({
    sentences: z
      .array(z.strictObject({ text: z.string(), passages: z.array(z.int()).min(1) }))
      .describe('Sentences, each with the indexes of its passages, from 0 on'),
    reason: z.string().nullable().describe('Why there are no sentences'),
    passages: z.array(PassageView),
    figures: z.array(QueryResult),
    notRead: UnreadSources,
    embeddings: EmbeddingUsage,
    model: z
      .strictObject({
        used: z.boolean().describe('false: the sentences are quotations from the passages'),
        excluded: z
          .int()
          .describe('Number of model sentences that no passage supports, or with numbers that are in no passage'),
        reason: z.string().nullable().describe('Why it was not used'),
      })
      .nullable()
      .describe('null: the organization has no model'),
  }),
  async handler({ caller, body, request, signal }, ports) {
    const { question, sources, labels, timeZone } = body;
    const range = parseRange(body, ports.clock.now());
    const searchResult = await searchPassages(
      { question, limit: maxPassages, sources },
      { caller, ports, request, signal },
    );
    const { sentences, reason } = selectBestSentences(question, searchResult.passages);
    // Queries of unrelated passages are ignored.
    const relevantPassages = sentences.length === 0 ? [] : searchResult.passages;
    const model =
      sentences.length === 0
        ? null
        : await answerWithModel(question, searchResult.passages, { caller, ports, request, signal });
    const answerSentences = model?.used ? model.sentences : sentences;
    const queryResults = await runNamedQueries(question, relevantPassages, {
      caller,
      ports,
      signal,
      range,
      timeZone,
      labels,
    });
    return {
      sentences: answerSentences.map(({ text, passages }) => ({ text, passages: [...passages] })),
      reason,
      passages: searchResult.passages.map(toPassageView),
      figures: queryResults,
      notRead: searchResult.notRead,
      embeddings: searchResult.embeddings,
      model: model && { used: model.used, excluded: model.excluded, reason: model.reason },
    };
  },
});
