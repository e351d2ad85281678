import { z } from 'zod';
import type { QueryReader } from '../../../queries/promql/reading.ts';
import { Query } from '../../../queries/query.ts';
import { parseRange } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { parseQuery, run } from '../../../queries/run.ts';
import { formatTime } from '../../../queries/time.ts';
import { TimeText } from '../../../queries/time-parameters.ts';
import { findExcludingConditions, isEmpty } from '../../../subjects/questions/excluding.ts';
import { findNamedMetrics, interpretQuestion } from '../../../subjects/questions/interpret-question.ts';
import { type Interpretation, refusalCodes } from '../../../subjects/questions/interpretation.ts';
import { readCachedCatalogue, readMetricLabels } from '../../../subjects/questions/landed.ts';
import { describeQuery } from '../../../subjects/questions/sentence.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createReading, readValidities } from '../../kernel/reading.ts';
import { canUseModel } from './model.ts';
import { type ModelQuery, queryByModel } from './query-by-model.ts';
import { timeZoneField } from './requested-time-zone.ts';

const QuestionWords = z
  .array(z.strictObject({ text: z.string(), mappedTo: z.string().nullable() }))
  .describe('Each word of the question with the part of the query that it became; null: no part');
const queryFields = {
  query: Query,
  from: z.string(),
  to: z.string(),
  stepMs: z.int().nullable().describe('null: a table'),
  sentence: z.string().describe('Description of the query, generated from the query alone'),
  words: QuestionWords,
};
const QueryView = z.strictObject(queryFields);
const Refusal = z.strictObject({
  code: z.enum(refusalCodes),
  reason: z.string(),
  nearest: z.array(z.string()).describe('Existing names similar to the unknown ones'),
  operation: z.string().nullable().describe('Operation that answers this kind of question'),
  service: z.string().nullable().describe('Service that the question names, for that operation'),
  words: QuestionWords,
});

export const answerQuestion = defineOperation({
  method: 'POST',
  path: '/api/ai/query',
  operationId: 'askInWords',
  summary:
    'Answer a question in plain language with a query, which the answer contains; otherwise return its possible meanings, or why it cannot be answered',
  role: 'viewer',
  unaudited: 'it reads telemetry, as lists do',
  body: z.strictObject({
    question: z.string().min(1).max(16_384).describe('In English; PromQL and searches are recognized too'),
    timeZone: timeZoneField,
    from: TimeText.default('now-1h').describe('Default for a question without a time'),
    to: TimeText.default('now').describe('Default for a question without a time'),
  }),
  response: z.strictObject({
    answer: z
      .strictObject({
        ...queryFields,
        result: Result,
        emptyReason: z
          .string()
          .nullable()
          .describe('For a result without values: the condition that excludes everything'),
      })
      .nullable(),
    alternatives: z.array(QueryView).describe('For a question with several meanings: run one of these queries'),
    refusal: Refusal.nullable(),
    model: z
      .strictObject({
        used: z.boolean().describe('Whether the query is from the model'),
        tries: z.int().describe('Number of calls of the model'),
        reason: z.string().nullable().describe('Why it was not used'),
      })
      .nullable()
      .describe('null: not called, because the organization has no model or the question was parsed without it'),
  }),
  async handler({ caller, body, request, signal }, ports) {
    const { question, timeZone } = body;
    const defaultRange = parseRange(body, ports.clock.now());
    const reading = createReading(caller, ports);
    const catalogue = await readCachedCatalogue(reading);
    const metricLabels = await readMetricLabels(findNamedMetrics(question, catalogue), reading);
    const parseResult = interpretQuestion(
      { question, timeZone, nowMs: reading.nowMs, defaultRange },
      catalogue,
      metricLabels,
    );
    const toView = (parsedQuestion: Interpretation) => toQueryView(parsedQuestion, timeZone);
    switch (parseResult.is) {
      case 'refusal': {
        const { words } = parseResult;
        const { code, reason, nearest, operation, service = null } = parseResult.refusal;
        const model =
          rewordableErrors.has(code) && canUseModel({ caller, ports })
            ? await queryByModel({ question, words }, catalogue, { caller, ports, request, signal })
            : undefined;
        if (model?.parsedQuestion !== undefined) {
          const answer = {
            ...toView(model.parsedQuestion),
            ...(await runInterpretation(model.parsedQuestion, reading, signal)),
          };
          return { answer, alternatives: [], refusal: null, model: toModelView(model) };
        }
        const refusal = { code, reason, nearest: [...nearest], operation, service, words: [...words] };
        return { answer: null, alternatives: [], refusal, model: toModelView(model) };
      }
      case 'alternatives':
        return { answer: null, alternatives: parseResult.interpretations.map(toView), refusal: null, model: null };
      default: {
        const { interpretation: parsedQuestion } = parseResult;
        const [validity] = await readValidities([parseQuery(parsedQuestion.query)], caller, ports);
        const [problem] = validity?.problems ?? [];
        if (validity?.isValid === false && problem !== undefined) {
          const refusal = {
            code: 'invalid' as const,
            reason: problem.message,
            nearest: [],
            operation: null,
            service: null,
          };
          return {
            answer: null,
            alternatives: [],
            refusal: { ...refusal, words: [...parsedQuestion.words] },
            model: null,
          };
        }
        return {
          answer: { ...toView(parsedQuestion), ...(await runInterpretation(parsedQuestion, reading, signal)) },
          alternatives: [],
          refusal: null,
          model: null,
        };
      }
    }
  },
});

/** Errors that the model may resolve by reading the question differently; the other errors do not depend on the wording. */
const rewordableErrors: ReadonlySet<string> = new Set(['unclear', 'unknown-name']);

const toModelView = (model: ModelQuery | undefined) =>
  model === undefined ? null : { used: model.parsedQuestion !== undefined, tries: model.tries, reason: model.reason };

const toQueryView = (parsedQuestion: Interpretation, timeZone: string): z.input<typeof QueryView> => ({
  query: parseQuery(parsedQuestion.query),
  from: formatTime(parsedQuestion.range.from),
  to: formatTime(parsedQuestion.range.to),
  stepMs: parsedQuestion.stepMs ?? null,
  sentence: describeQuery({ ...parsedQuestion, timeZone }),
  words: [...parsedQuestion.words],
});

const runInterpretation = async (parsedQuestion: Interpretation, reading: QueryReader, signal: AbortSignal) => {
  const { query, range, stepMs } = parsedQuestion;
  const result = await run(query, reading, { range, stepMs, signal });
  const emptyReason = isEmpty(result, query)
    ? ((await findExcludingConditions(parsedQuestion, reading, signal)) ?? null)
    : null;
  return { result, emptyReason };
};
