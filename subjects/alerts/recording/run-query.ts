/** Runs the queries of recording rules: the only part of them that reads data. */

import { evaluateBatch } from '../../../queries/batch/promql.ts';
import type { QueryBatcher } from '../../../queries/batch/query-batcher.ts';
import type { EvaluationWindow } from '../../../queries/promql/evaluation/messages.ts';
import type { EvaluationResult } from '../../../queries/promql/index.ts';
import type { QueryReader } from '../../../queries/promql/query-reader.ts';
import { defaultLookbackMs, evaluatePromql } from '../../../queries/promql/run-promql.ts';
import type { Series } from '../../../queries/promql/series.ts';
import { extendColumns } from '../../../queries/run.ts';
import { TimeoutError } from '../../../runtime/timeout.ts';
import { UnavailableError } from '../../../schemas/errors.ts';
import { queryErrorMessage } from '../run-query.ts';
import type { ExpressionResult, RunExpressions } from './evaluate.ts';

interface RunOptions {
  /** The instant at which expressions are evaluated. */
  readonly atMs: number;
  readonly signal: AbortSignal;
  /** Query runner with its slots. */
  readonly batcher: Pick<QueryBatcher, 'runInSlot' | 'createTimeoutError'>;
  /** Timeout of a shared query. After it, each expression runs separately with the same timeout. */
  readonly batchTimeoutMs: number;
  /** Total timeout, including the wait for slots. */
  readonly totalTimeoutMs: number;
  /** Whether to reject if the queried store does not respond, so that a retry is possible. */
  readonly canRetry?: boolean;
}

const timeoutMessage = (timeoutMs: number): string =>
  `the group had no response within ${timeoutMs / 1000} seconds, because earlier rules took too long`;

const toExpressionResult = ({ value }: EvaluationResult): ExpressionResult => {
  if (value.type === 'vector') return { elements: value.elements };
  if (value.type === 'scalar') return { elements: [{ labels: {}, value: value.value }] };
  // The message of Prometheus.
  return { error: 'rule result is not a vector or scalar' };
};

/** One evaluation of a group, which runs its queries in rounds */
class ExpressionRun {
  readonly #reading: QueryReader;
  readonly #options: RunOptions;
  readonly #totalTimeout: AbortSignal;
  /** Whether an expression timed out on its own, which means that the group's expressions are too slow */
  #hasTimedOut = false;

  constructor(reader: QueryReader, options: RunOptions) {
    this.#reading = reader;
    this.#options = options;
    this.#totalTimeout = AbortSignal.timeout(options.totalTimeoutMs);
  }

  /** Runs the expressions in a query slot. Rejects with `TimeoutError` if no slot was available in time. */
  async runInSlot(expressions: readonly string[], added: readonly Series[]): Promise<readonly ExpressionResult[]> {
    const { batcher, signal, totalTimeoutMs } = this.#options;
    if (this.#totalTimeout.aborted && this.#hasTimedOut)
      return expressions.map(() => ({ error: timeoutMessage(totalTimeoutMs) }));
    const abortSignal = AbortSignal.any([signal, this.#totalTimeout]);
    let hasStarted = false;
    try {
      return await batcher.runInSlot(() => {
        hasStarted = true;
        return this.#runAll(expressions, added);
      }, abortSignal);
    } catch (error) {
      signal.throwIfAborted();
      if (!hasStarted && this.#totalTimeout.aborted) throw new TimeoutError(totalTimeoutMs);
      throw error;
    }
  }

  async #runAll(expressions: readonly string[], added: readonly Series[]): Promise<readonly ExpressionResult[]> {
    const batchOutcomes = await this.#runBatch(expressions, added).catch(() => []);
    const results: ExpressionResult[] = [];
    for (const [index, expression] of expressions.entries()) {
      const batchOutcome = batchOutcomes[index];
      if (batchOutcome === undefined) results.push(await this.#runSeparately(expression, added));
      else
        results.push(
          'error' in batchOutcome ? this.#toErrorResult(batchOutcome.error) : toExpressionResult(batchOutcome),
        );
    }
    this.#options.signal.throwIfAborted();
    return results;
  }

  #runBatch(expressions: readonly string[], added: readonly Series[]): ReturnType<typeof evaluateBatch> {
    return evaluateBatch(expressions, this.#createReading(added, this.#createAbortSignal()), this.#window);
  }

  async #runSeparately(expression: string, added: readonly Series[]): Promise<ExpressionResult> {
    const abortSignal = this.#createAbortSignal();
    try {
      return toExpressionResult(
        await evaluatePromql(expression, this.#createReading(added, abortSignal), this.#window, abortSignal),
      );
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (this.#totalTimeout.aborted && !this.#hasTimedOut) throw new TimeoutError(this.#options.totalTimeoutMs);
      if (this.#totalTimeout.aborted) return { error: timeoutMessage(this.#options.totalTimeoutMs) };
      return this.#toErrorResult(abortSignal.aborted ? this.#createTimeoutError() : error);
    }
  }

  /** Error for a timeout. If statements are slow in general, the expression is not at fault. */
  #createTimeoutError(): Error {
    const { batcher, batchTimeoutMs } = this.#options;
    const error = batcher.createTimeoutError(batchTimeoutMs);
    this.#hasTimedOut ||= !(error instanceof TimeoutError);
    return error;
  }

  #toErrorResult(error: unknown): ExpressionResult {
    if (error instanceof TimeoutError) throw error;
    if (this.#options.canRetry === true && error instanceof UnavailableError) throw error;
    return { error: queryErrorMessage(error) };
  }

  #createAbortSignal(): AbortSignal {
    const { signal, batchTimeoutMs } = this.#options;
    return AbortSignal.any([signal, this.#totalTimeout, AbortSignal.timeout(batchTimeoutMs)]);
  }

  #createReading(additionalSeries: readonly Series[], abortSignal: AbortSignal): QueryReader {
    const { columns, promql } = this.#reading;
    return {
      ...this.#reading,
      columns: extendColumns(columns, abortSignal),
      promql: promql && { ...promql, additionalSeries },
    };
  }

  get #window(): EvaluationWindow {
    const { atMs } = this.#options;
    return { startMs: atMs, endMs: atMs, stepMs: 0, lookbackMs: defaultLookbackMs };
  }
}

/**
 * Returns a function that runs expressions. It rejects if the signal aborts; with `TimeoutError` if there is no result
 * in time because of overload, which is not a fault of the rules; and with `UnavailableError` if the store does not
 * respond and `canRetry` is set. Other failures are error results of the expressions.
 */
export const createExpressionRun = (reader: QueryReader, options: RunOptions): RunExpressions => {
  const expressionRun = new ExpressionRun(reader, options);
  return (expressions, added) => expressionRun.runInSlot(expressions, added);
};
