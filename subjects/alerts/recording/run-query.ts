/** Runs the queries of recording rules: the only part of them that reads data. */

import type { Answers } from '../../../queries/batch/answers.ts';
import { evaluateBatch } from '../../../queries/batch/promql.ts';
import type { EvaluationWindow } from '../../../queries/promql/evaluation/messages.ts';
import type { Evaluated } from '../../../queries/promql/index.ts';
import type { QueryReading } from '../../../queries/promql/reading.ts';
import { defaultLookbackMs, evaluatePromql } from '../../../queries/promql/run-promql.ts';
import type { Series } from '../../../queries/promql/series.ts';
import { withSignal } from '../../../queries/run.ts';
import { TimeoutError } from '../../../runtime/timeout.ts';
import { UnavailableError } from '../../../schemas/errors.ts';
import { messageOf } from '../run-query.ts';
import type { Answered, RunExpressions } from './evaluate.ts';

interface RunOptions {
  /** The instant at which expressions are evaluated. */
  readonly atMs: number;
  readonly signal: AbortSignal;
  /** Query runner with its slots. */
  readonly answers: Pick<Answers, 'runInSlot' | 'timeoutError'>;
  /** Timeout of a shared query. After it, each expression runs separately with the same timeout. */
  readonly sharedMs: number;
  /** Total timeout, including the wait for slots. */
  readonly withinMs: number;
  /** Whether to reject if the queried store does not respond, so that a retry is possible. */
  readonly mayWait?: boolean;
}

const tooLate = (withinMs: number): string =>
  `the group had no response within ${withinMs / 1000} seconds, because earlier rules took too long`;

const answeredBy = ({ value }: Evaluated): Answered => {
  if (value.type === 'vector') return { elements: value.elements };
  if (value.type === 'scalar') return { elements: [{ labels: {}, value: value.value }] };
  // In Prometheus's wording.
  return { error: 'rule result is not a vector or scalar' };
};

/** One evaluation of a group, which runs its queries in rounds */
class ExpressionRun {
  readonly #reading: QueryReading;
  readonly #options: RunOptions;
  readonly #over: AbortSignal;
  /** Whether a single expression timed out: then the group is at fault, and its rules report that */
  #isSlow = false;

  constructor(reading: QueryReading, options: RunOptions) {
    this.#reading = reading;
    this.#options = options;
    this.#over = AbortSignal.timeout(options.withinMs);
  }

  /** Runs the expressions in a slot. Rejects with `LateError` if no slot was available in time. */
  async runInSlot(expressions: readonly string[], added: readonly Series[]): Promise<readonly Answered[]> {
    const { answers, signal, withinMs } = this.#options;
    if (this.#over.aborted && this.#isSlow) return expressions.map(() => ({ error: tooLate(withinMs) }));
    const ending = AbortSignal.any([signal, this.#over]);
    let began = false;
    try {
      return await answers.runInSlot(() => {
        began = true;
        return this.#all(expressions, added);
      }, ending);
    } catch (error) {
      signal.throwIfAborted();
      if (!began && this.#over.aborted) throw new TimeoutError(withinMs);
      throw error;
    }
  }

  async #all(expressions: readonly string[], added: readonly Series[]): Promise<readonly Answered[]> {
    const batchOutcomes = await this.#runBatch(expressions, added).catch(() => []);
    const answered: Answered[] = [];
    for (const [index, expression] of expressions.entries()) {
      const found = batchOutcomes[index];
      if (found === undefined) answered.push(await this.#alone(expression, added));
      else answered.push('error' in found ? this.#failed(found.error) : answeredBy(found));
    }
    this.#options.signal.throwIfAborted();
    return answered;
  }

  #runBatch(expressions: readonly string[], added: readonly Series[]): ReturnType<typeof evaluateBatch> {
    return evaluateBatch(expressions, this.#readingWith(added, this.#ending()), this.#window);
  }

  async #alone(expression: string, added: readonly Series[]): Promise<Answered> {
    const ending = this.#ending();
    try {
      return answeredBy(await evaluatePromql(expression, this.#readingWith(added, ending), this.#window, ending));
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (this.#over.aborted && !this.#isSlow) throw new TimeoutError(this.#options.withinMs);
      if (this.#over.aborted) return { error: tooLate(this.#options.withinMs) };
      return this.#failed(ending.aborted ? this.#timeoutError() : error);
    }
  }

  /** Error for a timeout. If statements are slow in general, the expression is not at fault. */
  #timeoutError(): Error {
    const { answers, sharedMs } = this.#options;
    const error = answers.timeoutError(sharedMs);
    this.#isSlow ||= !(error instanceof TimeoutError);
    return error;
  }

  #failed(error: unknown): Answered {
    if (error instanceof TimeoutError) throw error;
    if (this.#options.mayWait === true && error instanceof UnavailableError) throw error;
    return { error: messageOf(error) };
  }

  #ending(): AbortSignal {
    const { signal, sharedMs } = this.#options;
    return AbortSignal.any([signal, this.#over, AbortSignal.timeout(sharedMs)]);
  }

  #readingWith(added: readonly Series[], ending: AbortSignal): QueryReading {
    const { columns, promql } = this.#reading;
    return { ...this.#reading, columns: withSignal(columns, ending), promql: promql && { ...promql, added } };
  }

  get #window(): EvaluationWindow {
    const { atMs } = this.#options;
    return { startMs: atMs, endMs: atMs, stepMs: 0, lookbackMs: defaultLookbackMs };
  }
}

/**
 * Returns a function that runs expressions. Rejects if the signal aborts, according to `mayWait`. Rejects with
 * `LateError` if there is no result in time because of overload, which is not a fault of the rules. Other failures are
 * results.
 */
export const createExpressionRun = (reading: QueryReading, options: RunOptions): RunExpressions => {
  const expressionRun = new ExpressionRun(reading, options);
  return (expressions, added) => expressionRun.runInSlot(expressions, added);
};
