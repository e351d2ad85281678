/** A question as a query that a model wrote: checked as any other, and told what is wrong with it at most twice. */
import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { askedRange } from '../../../queries/range.ts';
import { queryOf } from '../../../queries/run.ts';
import { stepOf } from '../../../queries/steps.ts';
import type { Catalogue } from '../../../subjects/questions/catalogue.ts';
import { fittingOf } from '../../../subjects/questions/fitting.ts';
import type { Asking, ReadWord } from '../../../subjects/questions/understanding.ts';
import { validitiesNow } from '../../kernel/reading.ts';
import { askModel, jsonIn, type ModelAsking } from './model.ts';

const orders = [
  'You write one query for a question of an operator about logs, spans or metrics.',
  'Answer with JSON: {"query":QUERY,"from":"now-1h","to":"now","step":"1m"}. Leave "step" out for a table.',
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

/** The first try, and two with what was wrong. */
const mostTries = 3;
const mostOfQuestion = 1_000;
const mostOfMistake = 500;

export interface AskedByModel {
  readonly asking: Asking | undefined;
  readonly tries: number;
  /** Why it was not used. */
  readonly reason: string | null;
}

/** The query of what a model said; throws `QueryError` with what is wrong with it. */
const readAnswer = async (
  said: unknown,
  words: readonly ReadWord[],
  { caller, ports }: ModelAsking,
): Promise<Asking | undefined> => {
  const written = Written.safeParse(said);
  if (!written.success) throw new QueryError('VALIDATION_FAILED', 'the answer is not the JSON that was asked for');
  const { query: given, from, to, step } = written.data;
  if (given === null) return undefined;
  const query = queryOf(given);
  const range = askedRange({ from, to }, ports.clock.now());
  const [validity] = await validitiesNow([query], caller, ports);
  const [problem] = validity?.problems ?? [];
  if (problem !== undefined) throw new QueryError('VALIDATION_FAILED', `${problem.path}: ${problem.message}`);
  const search = 'search' in query && query.search !== undefined ? [query.search] : [];
  return {
    ...{ query, range, conditions: search, words: words.map((word) => ({ ...word, became: null })) },
    stepMs: step == null || query.kind === 'rows' ? undefined : stepOf(step, range),
  };
};

/** The query of a question that the grammar does not read. Nothing of it is a guess that was not checked: names that are not there are mistakes. */
export const queryByModel = async (
  { question, words }: { readonly question: string; readonly words: readonly ReadWord[] },
  catalogue: Catalogue,
  asking: ModelAsking,
): Promise<AskedByModel> => {
  const material = { question: question.slice(0, mostOfQuestion).toWellFormed(), ...fittingOf(question, catalogue) };
  let mistake: string | undefined;
  for (let tries = 1; ; tries++) {
    const answer = await askModel(
      { purpose: 'query', orders, material: { ...material, ...(mistake !== undefined && { mistake }) } },
      asking,
    );
    if ('reason' in answer) return { asking: undefined, tries, reason: answer.reason };
    try {
      const read = await readAnswer(jsonIn(answer.text), words, asking);
      return { asking: read, tries, reason: read === undefined ? 'the model finds no query for it' : null };
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      mistake = error.message.slice(0, mostOfMistake).toWellFormed();
      if (tries === mostTries)
        return { asking: undefined, tries, reason: `the query of the model is wrong: ${mistake}` };
    }
  }
};
