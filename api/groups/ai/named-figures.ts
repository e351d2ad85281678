/** Results of queries that a question or passages contain, run with the caller's permissions. */
import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { Query } from '../../../queries/query.ts';
import type { Range } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { queryOf, run } from '../../../queries/run.ts';
import { formatTime } from '../../../queries/time.ts';
import { labelledMetrics, landedCatalogue } from '../../../subjects/questions/landed.ts';
import { sentenceOf } from '../../../subjects/questions/sentence.ts';
import { metricsNamed, understand } from '../../../subjects/questions/understand.ts';
import { namedQueries } from '../../../subjects/runbooks/named-queries.ts';
import type { FoundPassage } from '../../../subjects/runbooks/passage-index.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf, validitiesNow } from '../../kernel/reading.ts';

const maxQueries = 5;
/** Maximum values of one result next to sentences */
const maxShown = 20;

export const Figure = z.strictObject({
  passage: z
    .int()
    .nullable()
    .describe('Index of the passage that contains the query, from 0 on; null: the question contains it'),
  query: Query,
  from: z.string(),
  to: z.string(),
  stepMs: z.int().nullable(),
  sentence: z.string().describe('Description of the query, generated from the query alone'),
  result: Result.nullable().describe(`At most ${maxShown} rows or series`),
  reason: z.string().nullable().describe('Why there is no result'),
});
export type Figure = z.output<typeof Figure>;

interface FigureRequest {
  readonly query: Query;
  readonly range: Range;
  readonly stepMs: number | undefined;
  readonly passage: number | null;
}

interface FigureContext {
  readonly caller: Caller;
  readonly ports: Ports;
  readonly signal: AbortSignal;
  readonly range: Range;
  readonly timeZone: string;
}

/** The query of a question with a single meaning. */
const ofQuestion = async (
  question: string,
  { caller, ports, range, timeZone }: FigureContext,
): Promise<FigureRequest[]> => {
  const reading = readingOf(caller, ports);
  const catalogue = await landedCatalogue(reading);
  const labelled = await labelledMetrics(metricsNamed(question, catalogue), reading);
  const understood = understand({ question, timeZone, nowMs: reading.nowMs, defaultRange: range }, catalogue, labelled);
  if (understood.is !== 'interpretation') return [];
  const { query, range: own, stepMs } = understood.interpretation;
  return [{ query: queryOf(query), range: own, stepMs, passage: null }];
};

const cut = (result: Result): Result => {
  const { rows, series, partial } = result;
  if (Math.max(rows.length, series.length) <= maxShown) return result;
  const message = `the first ${maxShown} of ${Math.max(rows.length, series.length)} are shown: run the query for all`;
  return {
    ...result,
    rows: rows.slice(0, maxShown),
    series: series.slice(0, maxShown),
    partial: [...partial, { code: 'rows', message }],
  };
};

/** A result, or the reason why there is none: one failed query must not affect the others. */
const answered = async (
  { query, range, stepMs }: FigureRequest,
  { caller, ports, signal }: FigureContext,
): Promise<Pick<Figure, 'result' | 'reason'>> => {
  const [validity] = await validitiesNow([query], caller, ports);
  if (validity?.isValid === false) return { result: null, reason: validity.problems[0]?.message ?? 'it is not valid' };
  try {
    return { result: cut(await run(query, readingOf(caller, ports), { range, stepMs, signal })), reason: null };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof QueryError) return { result: null, reason: error.message };
    ports.log.warn({ error: String(error) }, 'a query that a passage names failed');
    return { result: null, reason: 'it cannot be answered now' };
  }
};

export const figuresNamed = async (
  question: string,
  passages: readonly FoundPassage[],
  context: FigureContext,
): Promise<Figure[]> => {
  const { range, timeZone } = context;
  const own = await ofQuestion(question, context);
  const others = namedQueries(passages, maxQueries - own.length).map(
    ({ query, passage }): FigureRequest => ({ query, passage, range, stepMs: undefined }),
  );
  const requests = [...own, ...others];
  const results = await Promise.all(requests.map((each) => answered(each, context)));
  return requests.map(({ query, range: { from, to }, stepMs, passage }, index) => ({
    passage,
    query,
    from: formatTime(from),
    to: formatTime(to),
    stepMs: stepMs ?? null,
    sentence: sentenceOf({ query, range: { from, to }, stepMs, timeZone }),
    ...(results[index] ?? { result: null, reason: 'it was not run' }),
  }));
};
