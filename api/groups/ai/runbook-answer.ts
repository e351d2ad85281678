import { z } from 'zod';
import { parseRange } from '../../../queries/range.ts';
import { TimeText } from '../../../queries/time-parameters.ts';
import { bestSentences } from '../../../subjects/runbooks/sentences.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { EmbeddingUsage } from './embeddings.ts';
import { Figure, figuresNamed } from './named-figures.ts';
import { notRead, PassageView, passagesFor, passageView, sourcesField } from './passages.ts';
import { timeZoneField } from './requested-time-zone.ts';
import { wordedByModel } from './worded-answer.ts';

/** Passages that an answer is made of. */
const maxPassages = 8;

export const answerFromRunbooks = defineOperation({
  method: 'POST',
  path: '/api/ai/rag/answer',
  operationId: 'answerFromRunbooks',
  summary:
    'Answer a question by sentences of runbooks and the like, each with its passages, and by figures of the queries that these or the question name',
  role: 'viewer',
  unaudited: 'it reads, as lists do',
  body: z.strictObject({
    question: z.string().min(1).max(16_384),
    sources: sourcesField,
    timeZone: timeZoneField,
    from: TimeText.default('now-1h').describe('Of queries that name no time'),
    to: TimeText.default('now').describe('Of queries that name no time'),
  }),
  response: z.strictObject({
    sentences: z
      .array(z.strictObject({ text: z.string(), passages: z.array(z.int()).min(1) }))
      .describe('Each with the places of the passages that say it, from 0 on'),
    reason: z.string().nullable().describe('Why there are no sentences'),
    passages: z.array(PassageView),
    figures: z.array(Figure),
    notRead,
    embeddings: EmbeddingUsage,
    model: z
      .strictObject({
        used: z.boolean().describe('false: the sentences stand in the passages as they are'),
        excluded: z.int().describe('Sentences of the model that no passage says, or whose numbers are in none'),
        reason: z.string().nullable().describe('Why it was not used'),
      })
      .nullable()
      .describe('null: there is none for this organization'),
  }),
  async handler({ caller, body, request, signal }, ports) {
    const { question, sources, timeZone } = body;
    const range = parseRange(body, ports.clock.now());
    const found = await passagesFor({ question, limit: maxPassages, sources }, { caller, ports, request, signal });
    const { sentences, reason } = bestSentences(question, found.passages);
    // What says nothing of the question names no query of it.
    const fitting = sentences.length === 0 ? [] : found.passages;
    const model =
      sentences.length === 0 ? null : await wordedByModel(question, found.passages, { caller, ports, request, signal });
    const shown = model?.used ? model.sentences : sentences;
    const figures = await figuresNamed(question, fitting, { caller, ports, signal, range, timeZone });
    return {
      sentences: shown.map(({ text, passages }) => ({ text, passages: [...passages] })),
      reason,
      passages: found.passages.map(passageView),
      figures,
      notRead: found.notRead,
      embeddings: found.embeddings,
      model: model && { used: model.used, excluded: model.excluded, reason: model.reason },
    };
  },
});
