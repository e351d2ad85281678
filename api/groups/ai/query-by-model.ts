/**
 * Translates a question to a query with a model. The query is validated like any other; the model receives validation
 * errors at most twice.
 */

import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { returnsRecords } from '../../../queries/query-kind.ts';
import { parseRange } from '../../../queries/range.ts';
import { requireReadable } from '../../../queries/require-readable.ts';
import { parseQuery } from '../../../queries/run.ts';
import { buildSteps, resolveStepMs } from '../../../queries/steps.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import type { Catalogue } from '../../../subjects/questions/catalogue.ts';
import type { Interpretation, InterpretedWord } from '../../../subjects/questions/interpretation.ts';
import { selectRelevantNames } from '../../../subjects/questions/relevant-names.ts';
import { createQueryReader, readValidities } from '../../kernel/query-reader.ts';
import { type ModelContext, parseJsonText, queryModel } from './model.ts';

const instructions = [
  'You write one query for a question of an operator about logs, spans or metrics.',
  'Answer with JSON: {"query":QUERY,"from":"now-1h","to":"now","step":"1m"}. Omit "step" for a table.',
  'QUERY is one of:',
  '{"kind":"rows","signal":"logs","search":"service:shop AND status:error","limit":100}',
  '{"kind":"aggregate","signal":"traces","search":"service:shop","measures":[{"function":"percentile","field":"duration","percentile":95}],"groupBy":["name"]}',
  '{"kind":"metric","metric":"http.server.request.duration","search":"service.name:shop","overTime":"rate","across":"sum","groupBy":["service.name"]}',
  'Functions of measures: count, rate, distinct, sum, avg, min, max, percentile. Signals: logs, traces. overTime: last, avg, min, max, sum, rate, increase.',
  'Use names and values of the material alone. Where these do not answer the question, answer {"query":null}.',
].join('\n');

const ShortText = z.string().max(64);
const ModelOutput = z.object({
  query: z
    .object({ kind: z.enum(['rows', 'aggregate', 'metric']) })
    .loose()
    .nullable(),
  from: ShortText.default('now-1h'),
  to: ShortText.default('now'),
  step: ShortText.nullish(),
});

/** The first attempt, and two with the errors. */
const maxAttempts = 3;
const maxQuestionLength = 1_000;
const maxErrorLength = 500;

export interface ModelQuery {
  readonly parsedQuestion: Interpretation | undefined;
  readonly tries: number;
  /** Why it was not used */
  readonly reason: string | null;
}

/** Returns why a query cannot run in its ranges: the retention, the plan, or too many steps; `undefined` if it can. */
export const findRunProblem = (
  { query: request, range, comparedRange, stepMs }: Interpretation,
  reader: TenantReader,
): string | undefined => {
  const query = parseQuery(request);
  try {
    for (const readRange of [range, ...(comparedRange === undefined ? [] : [comparedRange])]) {
      requireReadable(query, readRange, reader);
      if (stepMs !== undefined) buildSteps(readRange, stepMs);
    }
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};

/** Parses the query in the model's output; throws `QueryError` if it is invalid. */
const parseModelQuery = async (
  answer: unknown,
  words: readonly InterpretedWord[],
  { caller, ports }: ModelContext,
): Promise<Interpretation | undefined> => {
  const output = ModelOutput.safeParse(answer);
  if (!output.success) throw new QueryError('VALIDATION_FAILED', 'the answer is not the requested JSON');
  const { query: rawQuery, from, to, step } = output.data;
  if (rawQuery === null) return undefined;
  const query = parseQuery(rawQuery);
  if ('projectId' in query && query.projectId !== undefined)
    throw new QueryError('VALIDATION_FAILED', 'query.projectId: omit it, because the question names no project');
  if ('signal' in query && query.signal !== 'logs' && query.signal !== 'traces')
    throw new QueryError('VALIDATION_FAILED', 'query.signal: must be logs or traces');
  const range = parseRange({ from, to }, ports.clock.now());
  const [validity] = await readValidities([query], caller, ports);
  const [problem] = validity?.problems ?? [];
  if (problem !== undefined) throw new QueryError('VALIDATION_FAILED', `${problem.path}: ${problem.message}`);
  const search = 'search' in query && query.search !== undefined ? [query.search] : [];
  const interpretation = {
    query,
    range,
    conditions: search,
    words: words.map((word) => ({ ...word, mappedTo: null })),
    stepMs: step == null || returnsRecords(query) ? undefined : resolveStepMs(step, range),
  };
  const runProblem = findRunProblem(interpretation, createQueryReader(caller, ports));
  if (runProblem !== undefined) throw new QueryError('VALIDATION_FAILED', runProblem);
  return interpretation;
};

/** Returns the query of a question that the grammar cannot parse. Every part is validated: unknown names are errors. */
export const queryByModel = async (
  { question, words }: { readonly question: string; readonly words: readonly InterpretedWord[] },
  catalogue: Catalogue,
  context: ModelContext,
): Promise<ModelQuery> => {
  const material = {
    question: question.slice(0, maxQuestionLength).toWellFormed(),
    ...selectRelevantNames(question, catalogue),
  };
  let previousError: string | undefined;
  for (let tries = 1; ; tries++) {
    const answer = await queryModel(
      {
        purpose: 'query',
        instructions,
        material: { ...material, ...(previousError !== undefined && { mistake: previousError }) },
      },
      context,
    );
    if ('reason' in answer) return { parsedQuestion: undefined, tries, reason: answer.reason };
    try {
      const interpretation = await parseModelQuery(parseJsonText(answer.text), words, context);
      return {
        parsedQuestion: interpretation,
        tries,
        reason: interpretation === undefined ? 'the model found no query for the question' : null,
      };
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      previousError = error.message.slice(0, maxErrorLength).toWellFormed();
      if (tries === maxAttempts)
        return { parsedQuestion: undefined, tries, reason: `the query of the model is wrong: ${previousError}` };
    }
  }
};
