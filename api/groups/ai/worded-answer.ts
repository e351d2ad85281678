/** An answer that a model wrote, reduced to the statements that passages support. */
import { z } from 'zod';
import { checkSentences } from '../../../subjects/runbooks/checked-sentences.ts';
import type { FoundPassage } from '../../../subjects/runbooks/passage-index.ts';
import type { CitedSentence } from '../../../subjects/runbooks/sentences.ts';
import { canUseModel, type ModelContext, parseJsonText, queryModel } from './model.ts';

const instructions = [
  'You answer a question of an operator from numbered sources, in plain English.',
  'Answer with JSON: {"sentences":[{"text":"one sentence","sources":[0]}]}.',
  'At most eight sentences. Each states only what its sources state, with their numbers and names, and without links.',
].join('\n');

const ModelOutput = z.object({
  sentences: z
    .array(z.object({ text: z.string().min(1).max(1_000), sources: z.array(z.int().min(0).max(1_000)).max(20) }))
    .min(1)
    .max(20),
});

const maxPassageLength = 1_500;
const maxQuestionLength = 1_000;

export interface ModelAnswerSentences {
  readonly used: boolean;
  readonly sentences: readonly CitedSentence[];
  readonly excluded: number;
  /** Why it was not used */
  readonly reason: string | null;
}

const createUnusedResult = (reason: string, excluded = 0): ModelAnswerSentences => ({
  used: false,
  sentences: [],
  excluded,
  reason,
});

/** Answers a question with sentences of the model that passages support; null if the organization has no model. */
export const answerWithModel = async (
  question: string,
  passages: readonly FoundPassage[],
  context: ModelContext,
): Promise<ModelAnswerSentences | null> => {
  if (!canUseModel(context)) return null;
  const truncateText = (text: string, maxLength: number): string => text.slice(0, maxLength).toWellFormed();
  const sources = passages.map(({ origin, text }, number) => ({
    number,
    title: origin.title,
    text: truncateText(text, maxPassageLength),
  }));
  const material = { question: truncateText(question, maxQuestionLength), sources };
  const modelOutput = await queryModel({ purpose: 'answer', instructions, material }, context);
  if ('reason' in modelOutput) return createUnusedResult(modelOutput.reason);
  const parsedOutput = ModelOutput.safeParse(parseJsonText(modelOutput.text));
  if (!parsedOutput.success) return createUnusedResult('the model did not answer with the requested JSON');
  const { sentences, excludedCount } = checkSentences(parsedOutput.data.sentences, passages);
  if (sentences.length === 0)
    return createUnusedResult('no sentence of the model is supported by a passage', excludedCount);
  return { used: true, sentences, excluded: excludedCount, reason: null };
};
