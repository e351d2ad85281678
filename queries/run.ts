/** Answers any query, in one form. */
import type { z } from 'zod';
import type { QueryLimits, TenantColumns } from '../schemas/ports/columns.ts';
import { runAggregate } from './aggregate/aggregate.ts';
import { runAnomaly } from './anomalies/run-anomaly.ts';
import type { Answer, QueryContext } from './answer.ts';
import { runCheck } from './checks/run-check.ts';
import type { RunPart } from './complete-steps.ts';
import { invalid } from './errors.ts';
import { runForecast } from './forecast/run-forecast.ts';
import { runFormula } from './formula/formula.ts';
import { freshnessOf, signalsOf } from './freshness.ts';
import { hintOfAnswer } from './hints/answers.ts';
import { hintOfMetric } from './metrics/hint.ts';
import { runMetric } from './metrics/metric.ts';
import type { QueryReading } from './promql/reading.ts';
import { runPromql } from './promql/run-promql.ts';
import { Query } from './query.ts';
import { refuseBeyondRetention } from './range.ts';
import type { Result } from './result.ts';
import { runRows } from './rows/rows.ts';
import { runSlo } from './slos/run-slo.ts';
import { formatTime } from './time.ts';

export interface RunOptions extends QueryContext {
  /** Ends the query, in the engine too. */
  readonly signal?: AbortSignal | undefined;
}

/** A query as callers write it: what has a default may be left out. */
export type QueryRequest = z.input<typeof Query>;

/**
 * Runs a query over a range: series with a step, a table without one. Throws a `QueryError` for a query that is invalid or that the
 * reader's plan does not allow: every signal that a query reads is held against its entitlement and retention, parts of formulas too.
 * What goes beyond the limits of the engine is refused, because a figure over part of the records would be a wrong figure.
 */
export const run = async (
  request: QueryRequest,
  reading: QueryReading,
  { signal, ...options }: RunOptions,
): Promise<Result> => {
  const query = queryOf(request);
  if (options.range.from > options.range.to) throw invalid('from', 'is after to');
  for (const each of signalsOf(query))
    refuseBeyondRetention(options.range, { caller: reading, signal: each, nowMs: reading.nowMs });
  const started = performance.now();
  const cost = { rowsRead: 0, bytesRead: 0 };
  // Where one statement fails, those beside it are not run to their ends.
  const failed = new AbortController();
  const ending = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const counted = { ...reading, columns: countingColumns(reading.columns, cost, ending) };
  try {
    const [answer, freshness] = await Promise.all([
      answerTo(query, counted, { ...options, signal: ending }),
      freshnessOf(query, counted),
    ]);
    const hint = await hintTo(query, answer, counted, options.range);
    return {
      ...answer,
      from: formatTime(options.range.from),
      to: formatTime(options.range.to),
      stepMs: options.stepMs ?? null,
      cost: { ...cost, elapsedMs: performance.now() - started, isCached: false },
      freshness,
      ...(hint === undefined ? {} : { hint }),
    };
  } catch (error) {
    failed.abort(error);
    throw error;
  }
};

/**
 * As `run`, without saying what it cost and how fresh it is: for what is asked again and again, such as rules.
 */
export const answerOnly = (
  query: Query,
  reading: QueryReading,
  { signal, ...context }: RunOptions,
): Promise<Answer> => {
  for (const each of signalsOf(query))
    refuseBeyondRetention(context.range, { caller: reading, signal: each, nowMs: reading.nowMs });
  const columns = signal === undefined ? reading.columns : withSignal(reading.columns, signal);
  return answerTo(query, { ...reading, columns }, { ...context, signal });
};

/** Columns whose statements end with the signal, and tell what each read. */
export const withSignal = (
  columns: TenantColumns,
  signal: AbortSignal,
  onCost?: (cost: RowsAndBytes) => void,
): TenantColumns => {
  const extendLimits = (limits: QueryLimits | undefined): QueryLimits => ({
    signal,
    ...limits,
    ...(onCost && {
      onCost(cost) {
        onCost(cost);
        limits?.onCost?.(cost);
      },
    }),
  });
  return {
    ...columns,
    query: (sql, parameters, limits) => columns.query(sql, parameters, extendLimits(limits)),
    native: (sql, parameters, limits) => columns.native(sql, parameters, extendLimits(limits)),
  };
};

const answerTo = async (
  query: Query,
  reading: QueryReading,
  context: QueryContext & Pick<RunOptions, 'signal'>,
): Promise<Answer> => {
  switch (query.kind) {
    case 'rows':
      return runRows(query, reading, context);
    case 'aggregate':
      return runAggregate(query, reading, context);
    case 'metric':
      return runMetric(query, reading, context);
    case 'slo':
      return runSlo(query, reading, context);
    case 'check':
      return runCheck(query, reading, context);
    case 'formula':
      return runFormula(query, (part) => answerTo(part, reading, context));
    case 'anomaly':
      return runAnomaly(query, reading, context, partly(reading, context));
    case 'forecast':
      return runForecast(query, reading, context, partly(reading, context));
    default:
      return runPromql(query, reading, context);
  }
};

/** Asks what stands in another query, over a range of its own. */
const partly =
  (reading: QueryReading, { signal }: Pick<RunOptions, 'signal'>): RunPart =>
  (part, context) =>
    answerTo(part, reading, { ...context, signal });

/** What to tell of an answer that lacks what was asked for. */
export const hintTo = async (
  query: Query,
  answer: Answer,
  reading: QueryReading,
  range: RunOptions['range'],
): Promise<string | undefined> => {
  if (query.kind === 'metric') return hintOfMetric(query, answer, reading);
  return query.kind === 'rows' || query.kind === 'aggregate' ? hintOfAnswer(query, answer, range, reading) : undefined;
};

/** The query with its defaults. Throws `VALIDATION_FAILED` about the first thing that is wrong with it. */
export const queryOf = (input: unknown): Query => {
  const parsed = Query.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(['query', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not a query');
};

/** What statements read. */
export interface RowsAndBytes {
  rowsRead: number;
  bytesRead: number;
}

/** Columns that add up what their statements read, and end them with the signal. */
export const countingColumns = (columns: TenantColumns, total: RowsAndBytes, signal: AbortSignal): TenantColumns =>
  withSignal(columns, signal, (cost) => {
    total.rowsRead += cost.rowsRead;
    total.bytesRead += cost.bytesRead;
  });
