/** Answers many queries of one request with few statements: each as `run` answers it, and equal queries once. */
import type { QueryContext } from '../answer.ts';
import { QueryError } from '../errors.ts';
import { freshnessOf, signalsOf } from '../freshness.ts';
import { FairQueue } from '../limits/fair-queue.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import type { Cost, Result } from '../result.ts';
import { countingColumns, hintTo } from '../run.ts';
import { formatTime } from '../time.ts';
import { Answers } from './answers.ts';

/** Maximum number of queries sent to the engine at once; the others wait, and are batched meanwhile where possible. */
const atOnce = 4;
/** Limited so that a batch does not delay a panel that could be answered alone. */
const sharedMs = 10_000;
const aloneMs = 40_000;
/** Maximum number of values in all answers of one request, which are in memory at the same time. */
const maxValues = 5_000_000;

const sizeOf = ({ series, columns, rows }: Pick<Result, 'series' | 'columns' | 'rows'>): number =>
  series.reduce((sum, { points }) => sum + points.length, rows.length * columns.length);

const keyOf = (query: Query, { range: { from, to }, stepMs }: QueryContext): string =>
  `${from} ${to} ${stepMs} ${JSON.stringify(query)}`;

export class Results {
  readonly #reading: QueryReading;
  readonly #signal: AbortSignal;
  readonly #answers: Answers;
  readonly #known = new Map<string, Promise<Result>>();
  readonly #freshness = new Map<string, Promise<Result['freshness']>>();
  readonly #read = { rowsRead: 0, bytesRead: 0 };
  readonly #started = performance.now();
  #values = 0;

  constructor(reading: QueryReading, signal: AbortSignal) {
    const { tenantId } = reading.columns;
    const queue = new FairQueue({ slots: atOnce, slotsPerTenant: atOnce, waitingPerTenant: Number.POSITIVE_INFINITY });
    this.#signal = signal;
    this.#reading = { ...reading, columns: countingColumns(reading.columns, this.#read, signal) };
    this.#answers = new Answers({
      gatherMs: 0,
      sharedMs,
      aloneMs,
      async runInSlot(work) {
        const end = await queue.acquire(tenantId);
        try {
          return await work();
        } finally {
          end();
        }
      },
    });
  }

  /** Reading for work besides the queries; its reads are part of the cost. */
  get reading(): QueryReading {
    return this.#reading;
  }

  /** Cost of all statements so far, each counted once. */
  get cost(): Cost {
    return { ...this.#read, elapsedMs: performance.now() - this.#started, isCached: false };
  }

  /** Returns the result of `run`. Its cost is that of all its statements, including shared ones. */
  of(query: Query, context: QueryContext): Promise<Result> {
    const key = keyOf(query, context);
    const known = this.#known.get(key) ?? this.#run(query, context);
    this.#known.set(key, known);
    return known;
  }

  async #run(query: Query, context: QueryContext): Promise<Result> {
    const started = performance.now();
    const signal = this.#signal;
    const cost = { rowsRead: 0, bytesRead: 0 };
    const onCost = (read: typeof cost): void => {
      cost.rowsRead += read.rowsRead;
      cost.bytesRead += read.bytesRead;
    };
    const [answer, freshness] = await Promise.all([
      this.#answers.run(query, this.#reading, context, { signal, onCost }),
      this.#freshnessOf(query),
    ]);
    this.#values += sizeOf(answer);
    if (this.#values > maxValues)
      throw new QueryError(
        'VALIDATION_FAILED',
        `the answers before this one hold ${maxValues} values, the maximum of one request: request fewer panels, or a longer step`,
      );
    const counted = { ...this.#reading, columns: countingColumns(this.#reading.columns, cost, signal) };
    const hint = await hintTo(query, answer, counted, context.range);
    return {
      ...answer,
      from: formatTime(context.range.from),
      to: formatTime(context.range.to),
      stepMs: context.stepMs ?? null,
      cost: { ...cost, elapsedMs: performance.now() - started, isCached: false },
      freshness,
      ...(hint === undefined ? {} : { hint }),
    };
  }

  #freshnessOf(query: Query): Promise<Result['freshness']> {
    const key = signalsOf(query).toSorted().join(' ');
    const known = this.#freshness.get(key) ?? freshnessOf(query, this.#reading);
    this.#freshness.set(key, known);
    return known;
  }
}
