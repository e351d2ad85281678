/** An answer in a model's words, reduced to the statements that passages support. */
import { z } from 'zod';
import { checkSentences } from '../../../subjects/runbooks/checked-sentences.ts';
import type { FoundPassage } from '../../../subjects/runbooks/passage-index.ts';
import type { Cited } from '../../../subjects/runbooks/sentences.ts';
import { hasModel, jsonIn, type ModelContext, queryModel } from './model.ts';

const orders = [
  'You answer a question of an operator from numbered sources, in plain English.',
  'Answer with JSON: {"sentences":[{"text":"one sentence","sources":[0]}]}.',
  'At most eight sentences. Each states only what its sources state, with their numbers and names, and without links.',
].join('\n');

const Written = z.object({
  sentences: z
    .array(z.object({ text: z.string().min(1).max(1_000), sources: z.array(z.int().min(0).max(1_000)).max(20) }))
    .min(1)
    .max(20),
});

const maxPassageLength = 1_500;
const maxQuestionLength = 1_000;

export interface Worded {
  readonly used: boolean;
  readonly sentences: readonly Cited[];
  readonly excluded: number;
  /** Why it was not used */
  readonly reason: string | null;
}

const unused = (reason: string, excluded = 0): Worded => ({ used: false, sentences: [], excluded, reason });

/** null if the organization has no model. */
export const wordedByModel = async (
  question: string,
  passages: readonly FoundPassage[],
  context: ModelContext,
): Promise<Worded | null> => {
  if (!hasModel(context)) return null;
  const cut = (text: string, maxLength: number): string => text.slice(0, maxLength).toWellFormed();
  const sources = passages.map(({ book, text }, number) => ({
    number,
    title: book.title,
    text: cut(text, maxPassageLength),
  }));
  const material = { question: cut(question, maxQuestionLength), sources };
  const answer = await queryModel({ purpose: 'answer', orders, material }, context);
  if ('reason' in answer) return unused(answer.reason);
  const written = Written.safeParse(jsonIn(answer.text));
  if (!written.success) return unused('the model did not answer with the requested JSON');
  const { sentences, excluded } = checkSentences(written.data.sentences, passages);
  if (sentences.length === 0) return unused('no sentence of the model is supported by a passage', excluded);
  return { used: true, sentences, excluded, reason: null };
};
