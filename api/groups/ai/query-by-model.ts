/**
 * A question translated to a query by a model. The query is validated like any other; the model receives the errors at
 * most twice.
 */

import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { returnsRecords } from '../../../queries/query-kind.ts';
import { parseRange } from '../../../queries/range.ts';
import { queryOf } from '../../../queries/run.ts';
import { stepOf } from '../../../queries/steps.ts';
import type { Catalogue } from '../../../subjects/questions/catalogue.ts';
import { selectRelevantNames } from '../../../subjects/questions/fitting.ts';
import type { Interpretation, ReadWord } from '../../../subjects/questions/understanding.ts';
import { validitiesNow } from '../../kernel/reading.ts';
import { jsonIn, type ModelContext, queryModel } from './model.ts';

const orders = [
  'You write one query for a question of an operator about logs, spans or metrics.',
  'Answer with JSON: {"query":QUERY,"from":"now-1h","to":"now","step":"1m"}. Omit "step" for a table.',
  'QUERY is one of:',
  '{"kind":"rows","signal":"logs","search":"service:shop AND status:error","limit":100}',
  '{"kind":"aggregate","signal":"traces","search":"service:shop","measures":[{"function":"percentile","field":"duration","percentile":95}],"groupBy":["name"]}',
  '{"kind":"metric","metric":"http.server.request.duration","search":"service.name:shop","overTime":"rate","across":"sum","groupBy":["service.name"]}',
  'Functions of measures: count, rate, distinct, sum, avg, min, max, percentile. Signals: logs, traces. overTime: last, avg, min, max, sum, rate, increase.',
  'Use names and values of the material alone. Where these do not answer the question, answer {"query":null}.',
].join('\n');

const text = z.string().max(64);
const Written = z.object({
  query: z
    .object({ kind: z.enum(['rows', 'aggregate', 'metric']) })
    .loose()
    .nullable(),
  from: text.default('now-1h'),
  to: text.default('now'),
  step: text.nullish(),
});

/** The first attempt, and two with the errors. */
const maxTries = 3;
const maxQuestionLength = 1_000;
const maxMistakeLength = 500;

export interface ModelQuery {
  readonly parsedQuestion: Interpretation | undefined;
  readonly tries: number;
  /** Why it was not used */
  readonly reason: string | null;
}

/** Parses the query in the model's output; throws `QueryError` with its problem. */
const readAnswer = async (
  answer: unknown,
  words: readonly ReadWord[],
  { caller, ports }: ModelContext,
): Promise<Interpretation | undefined> => {
  const written = Written.safeParse(answer);
  if (!written.success) throw new QueryError('VALIDATION_FAILED', 'the answer is not the requested JSON');
  const { query: given, from, to, step } = written.data;
  if (given === null) return undefined;
  const query = queryOf(given);
  const range = parseRange({ from, to }, ports.clock.now());
  const [validity] = await validitiesNow([query], caller, ports);
  const [problem] = validity?.problems ?? [];
  if (problem !== undefined) throw new QueryError('VALIDATION_FAILED', `${problem.path}: ${problem.message}`);
  const search = 'search' in query && query.search !== undefined ? [query.search] : [];
  return {
    query,
    range,
    conditions: search,
    words: words.map((word) => ({ ...word, mappedTo: null })),
    stepMs: step == null || returnsRecords(query) ? undefined : stepOf(step, range),
  };
};

/** Returns the query of a question that the grammar cannot parse. Every part is validated: unknown names are errors. */
export const queryByModel = async (
  { question, words }: { readonly question: string; readonly words: readonly ReadWord[] },
  catalogue: Catalogue,
  context: ModelContext,
): Promise<ModelQuery> => {
  const material = {
    question: question.slice(0, maxQuestionLength).toWellFormed(),
    ...selectRelevantNames(question, catalogue),
  };
  let mistake: string | undefined;
  for (let tries = 1; ; tries++) {
    const answer = await queryModel(
      { purpose: 'query', orders, material: { ...material, ...(mistake !== undefined && { mistake }) } },
      context,
    );
    if ('reason' in answer) return { parsedQuestion: undefined, tries, reason: answer.reason };
    try {
      const read = await readAnswer(jsonIn(answer.text), words, context);
      return {
        parsedQuestion: read,
        tries,
        reason: read === undefined ? 'the model found no query for the question' : null,
      };
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      mistake = error.message.slice(0, maxMistakeLength).toWellFormed();
      if (tries === maxTries)
        return { parsedQuestion: undefined, tries, reason: `the query of the model is wrong: ${mistake}` };
    }
  }
};
