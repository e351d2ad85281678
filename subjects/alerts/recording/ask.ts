/** Asks what recording rules ask: the only part of them that reads. */
import type { EvaluationWindow } from '../../../queries/promql/evaluation/messages.ts';
import type { Evaluated } from '../../../queries/promql/index.ts';
import type { QueryReading } from '../../../queries/promql/reading.ts';
import { evaluatePromql, usualLookbackMs } from '../../../queries/promql/run-promql.ts';
import type { Series } from '../../../queries/promql/series.ts';
import { heeding } from '../../../queries/run.ts';
import type { Answers } from '../../../queries/together/answers.ts';
import { evaluatedTogether } from '../../../queries/together/promql.ts';
import { UnavailableError } from '../../../schemas/errors.ts';
import { messageOf } from '../ask.ts';
import type { Answered, AskAll } from './evaluate.ts';

interface AskOptions {
  /** The instant at which expressions are evaluated. */
  readonly atMs: number;
  readonly signal: AbortSignal;
  /** Where turns are taken. */
  readonly answers: Pick<Answers, 'turn'>;
  /** How long those that are asked together may take; then each is asked alone, for as long. */
  readonly sharedMs: number;
  /** How long all of it may take. What has no answer by then fails. */
  readonly withinMs: number;
  /** Whether it rejects where what is asked does not answer, so that it can be asked again. */
  readonly mayWait?: boolean;
}

const tooLate = (withinMs: number): string =>
  `the group had no answer within ${withinMs / 1000} seconds: there is more to evaluate than can be`;

const tookLong = (ms: number): UnavailableError =>
  new UnavailableError(`the query took longer than ${ms / 1000} seconds`);

const answeredBy = ({ value }: Evaluated): Answered => {
  if (value.type === 'vector') return { elements: value.elements };
  if (value.type === 'scalar') return { elements: [{ labels: {}, value: value.value }] };
  // In Prometheus' words.
  return { error: 'rule result is not a vector or scalar' };
};

/** One evaluation of a group, which asks turn by turn. */
class Asking {
  readonly #reading: QueryReading;
  readonly #options: AskOptions;
  readonly #over: AbortSignal;

  constructor(reading: QueryReading, options: AskOptions) {
    this.#reading = reading;
    this.#options = options;
    this.#over = AbortSignal.timeout(options.withinMs);
  }

  async all(expressions: readonly string[], added: readonly Series[]): Promise<readonly Answered[]> {
    const together = await this.#together(expressions, added).catch(() => []);
    const answered: Answered[] = [];
    for (const [index, expression] of expressions.entries()) {
      const found = together[index];
      if (found === undefined) answered.push(await this.#alone(expression, added));
      else answered.push('error' in found ? this.#failed(found.error) : answeredBy(found));
    }
    this.#options.signal.throwIfAborted();
    return answered;
  }

  #together(expressions: readonly string[], added: readonly Series[]): ReturnType<typeof evaluatedTogether> {
    return evaluatedTogether(expressions, this.#readingWith(added, this.#ending()), this.#window);
  }

  async #alone(expression: string, added: readonly Series[]): Promise<Answered> {
    const ending = this.#ending();
    try {
      return answeredBy(await evaluatePromql(expression, this.#readingWith(added, ending), this.#window, ending));
    } catch (error) {
      if (this.#over.aborted) return { error: tooLate(this.#options.withinMs) };
      return this.#failed(ending.aborted ? tookLong(this.#options.sharedMs) : error);
    }
  }

  #failed(error: unknown): Answered {
    if (this.#options.mayWait === true && error instanceof UnavailableError) throw error;
    return { error: messageOf(error) };
  }

  #ending(): AbortSignal {
    const { signal, sharedMs } = this.#options;
    return AbortSignal.any([signal, this.#over, AbortSignal.timeout(sharedMs)]);
  }

  #readingWith(added: readonly Series[], ending: AbortSignal): QueryReading {
    const { columns, promql } = this.#reading;
    return { ...this.#reading, columns: heeding(columns, ending), promql: promql && { ...promql, added } };
  }

  get #window(): EvaluationWindow {
    const { atMs } = this.#options;
    return { startMs: atMs, endMs: atMs, stepMs: 0, lookbackMs: usualLookbackMs };
  }
}

/** Rejects where the signal aborts, and as `mayWait` says; what fails otherwise is an answer. */
export const askingAt = (reading: QueryReading, options: AskOptions): AskAll => {
  const asking = new Asking(reading, options);
  return (expressions, added) => options.answers.turn(() => asking.all(expressions, added), options.signal);
};
