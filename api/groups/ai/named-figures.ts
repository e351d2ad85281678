/** Results of queries that a question or passages contain, run with the caller's permissions. */
import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { Query } from '../../../queries/query.ts';
import type { Range } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { parseQuery, run } from '../../../queries/run.ts';
import { formatTime } from '../../../queries/time.ts';
import { findNamedMetrics, interpretQuestion } from '../../../subjects/questions/interpret-question.ts';
import { readCachedCatalogue, readMetricLabels } from '../../../subjects/questions/read-catalogue.ts';
import { describeQuery } from '../../../subjects/questions/sentence.ts';
import { extractQueries } from '../../../subjects/runbooks/named-queries.ts';
import type { FoundPassage } from '../../../subjects/runbooks/passage-index.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader, readValidities } from '../../kernel/query-reader.ts';

const maxQueries = 5;
/** Maximum rows or series of one result */
const maxItems = 20;

export const QueryResult = z.strictObject({
  passage: z
    .int()
    .nullable()
    .describe('Index of the passage that contains the query, from 0 on; null: the question contains it'),
  query: Query,
  from: z.string(),
  to: z.string(),
  stepMs: z.int().nullable(),
  sentence: z.string().describe('Description of the query, generated from the query alone'),
  result: Result.nullable().describe(`At most ${maxItems} rows or series`),
  reason: z.string().nullable().describe('Why there is no result'),
});
export type QueryResult = z.output<typeof QueryResult>;

interface QueryRequest {
  readonly query: Query;
  readonly range: Range;
  readonly stepMs: number | undefined;
  readonly passage: number | null;
  /** Placeholders without a value */
  readonly missing?: readonly string[];
}

interface QueryContext {
  readonly caller: Caller;
  readonly ports: Ports;
  readonly signal: AbortSignal;
  readonly range: Range;
  readonly timeZone: string;
  /** Labels of an alert, which fill placeholders */
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the query of a question; none if the question is ambiguous or cannot be parsed. */
const parseQuestionQueries = async (
  question: string,
  { caller, ports, range, timeZone }: QueryContext,
): Promise<QueryRequest[]> => {
  const reader = createQueryReader(caller, ports);
  const catalogue = await readCachedCatalogue(reader);
  const metricLabels = await readMetricLabels(findNamedMetrics(question, catalogue), reader);
  const parseResult = interpretQuestion(
    { question, timeZone, nowMs: reader.nowMs, defaultRange: range },
    catalogue,
    metricLabels,
  );
  if (parseResult.is !== 'interpretation') return [];
  const { query, range: questionRange, stepMs } = parseResult.interpretation;
  return [{ query: parseQuery(query), range: questionRange, stepMs, passage: null }];
};

const limitResult = (result: Result): Result => {
  const { rows, series, partial } = result;
  if (Math.max(rows.length, series.length) <= maxItems) return result;
  const message = `the first ${maxItems} of ${Math.max(rows.length, series.length)} are shown: run the query for all`;
  return {
    ...result,
    rows: rows.slice(0, maxItems),
    series: series.slice(0, maxItems),
    partial: [...partial, { code: 'rows', message }],
  };
};

/** Runs a query. Returns its result, or the reason why there is none: one failed query must not affect the others. */
const runRequest = async (
  { query, range, stepMs, missing = [] }: QueryRequest,
  { caller, ports, signal }: QueryContext,
): Promise<Pick<QueryResult, 'result' | 'reason'>> => {
  if (missing.length > 0)
    return {
      result: null,
      reason: `no label of the alert fills ${missing.join(', ')}: replace the placeholder, or pass the labels of the alert`,
    };
  const [validity] = await readValidities([query], caller, ports);
  if (validity?.isValid === false) return { result: null, reason: validity.problems[0]?.message ?? 'it is not valid' };
  try {
    return {
      result: limitResult(await run(query, createQueryReader(caller, ports), { range, stepMs, signal })),
      reason: null,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof QueryError) return { result: null, reason: error.message };
    ports.log.warn({ error: String(error) }, 'a query in a passage failed');
    return { result: null, reason: 'it cannot be run now' };
  }
};

export const runNamedQueries = async (
  question: string,
  passages: readonly FoundPassage[],
  context: QueryContext,
): Promise<QueryResult[]> => {
  const { range, timeZone } = context;
  const questionRequests = await parseQuestionQueries(question, context);
  const passageRequests = extractQueries(passages, maxQueries - questionRequests.length, context.labels).map(
    ({ query, passageIndex, missing }): QueryRequest => ({
      query,
      passage: passageIndex,
      range,
      stepMs: undefined,
      missing,
    }),
  );
  const requests = [...questionRequests, ...passageRequests];
  const results = await Promise.all(requests.map((request) => runRequest(request, context)));
  return requests.map(({ query, range: { from, to }, stepMs, passage }, index) => ({
    passage,
    query,
    from: formatTime(from),
    to: formatTime(to),
    stepMs: stepMs ?? null,
    sentence: describeQuery({ query, range: { from, to }, stepMs, timeZone }),
    ...(results[index] ?? { result: null, reason: 'it was not run' }),
  }));
};
