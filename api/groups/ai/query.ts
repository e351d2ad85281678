import { z } from 'zod';
import type { QueryReader } from '../../../queries/promql/query-reader.ts';
import { Query } from '../../../queries/query.ts';
import { parseRange } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { parseQuery, run } from '../../../queries/run.ts';
import { formatTime } from '../../../queries/time.ts';
import { TimeText } from '../../../queries/time-parameters.ts';
import { mentionsDeployment } from '../../../subjects/questions/deployment-times.ts';
import { findExcludingConditions, isEmpty } from '../../../subjects/questions/excluding-conditions.ts';
import { findNamedMetrics, interpretQuestion } from '../../../subjects/questions/interpret-question.ts';
import {
  type Interpretation,
  type InterpretationResult,
  refusalCodes,
} from '../../../subjects/questions/interpretation.ts';
import {
  readCachedCatalogue,
  readMetricLabels,
  readServiceDeployments,
} from '../../../subjects/questions/read-catalogue.ts';
import { describeQuery } from '../../../subjects/questions/sentence.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader, readValidities } from '../../kernel/query-reader.ts';
import { InvestigationView, runInvestigation } from './investigation.ts';
import { canUseModel } from './model.ts';
import { findRunProblem, type ModelQuery, queryByModel } from './query-by-model.ts';
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
  deployment: z
    .strictObject({ service: z.string(), version: z.string(), time: z.iso.datetime() })
    .nullable()
    .describe('Deployment that defines the range, as in "since the last deployment"; null: none does'),
  compared: z
    .strictObject({ from: z.string(), to: z.string() })
    .nullable()
    .describe('Second range of a comparison, such as yesterday; null: the question has one range'),
};
const QueryView = z.strictObject(queryFields);
const ErrorResponse = z.strictObject({
  code: z.enum(refusalCodes),
  reason: z.string(),
  nearest: z.array(z.string()).describe('Existing names similar to the unknown ones'),
  operation: z.string().nullable().describe('Operation that answers this kind of question'),
  words: QuestionWords,
});

export const answerQuestion = defineOperation({
  method: 'POST',
  path: '/api/ai/query',
  operationId: 'askInWords',
  summary:
    'Answer a question in plain language with a query, which the answer contains; otherwise return its possible meanings, or why it cannot be answered',
  role: 'viewer',
  auditExemption: 'read-only',
  body: z.strictObject({
    question: z.string().min(1).max(16_384).describe('In English; PromQL and searches are recognized too'),
    previousQuestions: z
      .array(z.string().min(1).max(1_024))
      .max(8)
      .default([])
      .describe('Earlier questions that this one may continue, such as "and for payments?"; the oldest first'),
    timeZone: timeZoneField,
    from: TimeText.default('now-1h').describe('Default for a question without a time'),
    to: TimeText.default('now').describe('Default for a question without a time'),
  }),
  response: z.strictObject({
    answer: z
      .strictObject({
        ...queryFields,
        result: Result,
        comparedResult: Result.nullable().describe('Result of the query over the range `compared`'),
        emptyReason: z
          .string()
          .nullable()
          .describe('For a result without values: the condition that excludes everything'),
      })
      .nullable(),
    alternatives: z.array(QueryView).describe('For a question with several meanings: run one of these queries'),
    refusal: ErrorResponse.nullable(),
    investigation: InvestigationView.nullable().describe(
      'For "why is checkout slow" and "what changed": causes with evidence, and changes',
    ),
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
    const { question, previousQuestions, timeZone } = body;
    const defaultRange = parseRange(body, ports.clock.now());
    const reader = createQueryReader(caller, ports);
    const catalogue = await readCachedCatalogue(reader);
    const namedMetrics = new Set([...previousQuestions, question].flatMap((text) => findNamedMetrics(text, catalogue)));
    const metricLabels = await readMetricLabels([...namedMetrics].slice(0, maxLabelledMetrics), reader);
    const deployments = [...previousQuestions, question].some(mentionsDeployment)
      ? await readServiceDeployments(reader)
      : [];
    const parseResult = keepReadable(
      interpretQuestion(
        { question, previousQuestions, timeZone, nowMs: reader.nowMs, defaultRange, deployments },
        catalogue,
        metricLabels,
      ),
      reader,
    );
    const toView = (parsedQuestion: Interpretation) => toQueryView(parsedQuestion, timeZone);
    const nothing = { answer: null, alternatives: [], refusal: null, investigation: null, model: null };
    switch (parseResult.is) {
      case 'investigation': {
        const investigation = await runInvestigation(parseResult.investigation, catalogue, { caller, ports, signal });
        return { ...nothing, investigation };
      }
      case 'refusal': {
        const { words } = parseResult;
        const { code, reason, nearest, operation } = parseResult.refusal;
        const model =
          rewordableErrors.has(code) && canUseModel({ caller, ports })
            ? await queryByModel({ question, words }, catalogue, { caller, ports, request, signal })
            : undefined;
        if (model?.parsedQuestion !== undefined) {
          const answer = {
            ...toView(model.parsedQuestion),
            ...(await runInterpretation(model.parsedQuestion, reader, signal)),
          };
          return { ...nothing, answer, model: toModelView(model) };
        }
        const refusal = { code, reason, nearest: [...nearest], operation, words: [...words] };
        return { ...nothing, refusal, model: toModelView(model) };
      }
      case 'alternatives':
        return { ...nothing, alternatives: parseResult.interpretations.map(toView) };
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
          };
          return { ...nothing, refusal: { ...refusal, words: [...parsedQuestion.words] } };
        }
        const result = await runInterpretation(parsedQuestion, reader, signal);
        return { ...nothing, answer: { ...toView(parsedQuestion), ...result } };
      }
    }
  },
});

const maxLabelledMetrics = 16;

/**
 * Removes meanings that cannot run, such as those with a range before the retention or with too many steps. If none is
 * left, the result is a rejection with the reason.
 */
const keepReadable = (parsed: InterpretationResult, reader: QueryReader): InterpretationResult => {
  if (parsed.is === 'refusal' || parsed.is === 'investigation') return parsed;
  const interpretations = parsed.is === 'interpretation' ? [parsed.interpretation] : parsed.interpretations;
  const problems = interpretations.map((interpretation) => findRunProblem(interpretation, reader));
  const [first, ...others] = interpretations.filter((_, index) => problems[index] === undefined);
  if (first === undefined) {
    const refusal = { code: 'invalid' as const, reason: problems[0] ?? '', nearest: [], operation: null };
    return { is: 'refusal', refusal, words: interpretations[0]?.words ?? [] };
  }
  return others.length === 0
    ? { is: 'interpretation', interpretation: first }
    : { is: 'alternatives', interpretations: [first, ...others] };
};

/** Errors that the model may resolve by reading the question differently; the other errors do not depend on the wording. */
const rewordableErrors: ReadonlySet<string> = new Set(['unclear', 'unknown-name']);

const toModelView = (model: ModelQuery | undefined) =>
  model === undefined ? null : { used: model.parsedQuestion !== undefined, tries: model.tries, reason: model.reason };

const toQueryView = (parsedQuestion: Interpretation, timeZone: string): z.input<typeof QueryView> => ({
  query: parseQuery(parsedQuestion.query),
  from: formatTime(parsedQuestion.range.from),
  to: formatTime(parsedQuestion.range.to),
  stepMs: parsedQuestion.stepMs ?? null,
  deployment:
    parsedQuestion.deployment === undefined
      ? null
      : {
          service: parsedQuestion.deployment.service,
          version: parsedQuestion.deployment.version,
          time: new Date(parsedQuestion.deployment.atMs).toISOString(),
        },
  compared:
    parsedQuestion.comparedRange === undefined
      ? null
      : { from: formatTime(parsedQuestion.comparedRange.from), to: formatTime(parsedQuestion.comparedRange.to) },
  sentence: describeQuery({ ...parsedQuestion, timeZone }),
  words: [...parsedQuestion.words],
});

const runInterpretation = async (parsedQuestion: Interpretation, reader: QueryReader, signal: AbortSignal) => {
  const { query, range, comparedRange, stepMs } = parsedQuestion;
  const [result, comparedResult] = await Promise.all([
    run(query, reader, { range, stepMs, signal }),
    comparedRange === undefined ? null : run(query, reader, { range: comparedRange, stepMs, signal }),
  ]);
  const emptyReason = isEmpty(result, query)
    ? ((await findExcludingConditions(parsedQuestion, reader, signal)) ?? null)
    : null;
  return { result, comparedResult, emptyReason };
};
