/**
 * Runs the queries of one request with few statements; equal queries run once. Each result equals that of `run`, except
 * that a range may begin before the retention of the plan.
 */

import { QueryError } from '../errors.ts';
import { getFreshness, listSignals } from '../freshness.ts';
import { FairQueue } from '../limits/fair-queue.ts';
import type { QueryReader } from '../promql/query-reader.ts';
import type { Query } from '../query.ts';
import type { QueryContext } from '../query-result.ts';
import { restrictToRetention } from '../range.ts';
import type { Cost, Result } from '../result.ts';
import { countColumnReads, getHint } from '../run.ts';
import { formatTime } from '../time.ts';
import { QueryBatcher } from './query-batcher.ts';

/** Maximum number of queries sent to the engine at once; the others wait, and are batched meanwhile where possible. */
const maxConcurrentStatements = 4;
/** Timeout of a batch, so that it does not delay a panel whose query could run alone. */
const batchTimeoutMs = 10_000;
const singleTimeoutMs = 40_000;
/** Maximum number of values in all results of one request, which are in memory at the same time. */
const maxValues = 5_000_000;

const countValues = ({ series, columns, rows }: Pick<Result, 'series' | 'columns' | 'rows'>): number =>
  series.reduce((sum, { points }) => sum + points.length, rows.length * columns.length);

const createResultKey = (query: Query, { range: { from, to }, stepMs }: QueryContext): string =>
  `${from} ${to} ${stepMs} ${JSON.stringify(query)}`;

export class RequestResults {
  readonly #reading: QueryReader;
  readonly #signal: AbortSignal;
  readonly #batcher: QueryBatcher;
  readonly #results = new Map<string, Promise<Result>>();
  readonly #freshness = new Map<string, Promise<Result['freshness']>>();
  readonly #statementCost = { rowsRead: 0, bytesRead: 0 };
  readonly #startMs = performance.now();
  #valueCount = 0;

  constructor(reader: QueryReader, signal: AbortSignal) {
    const { tenantId } = reader.columns;
    const queue = new FairQueue({
      slots: maxConcurrentStatements,
      maxSlotsPerTenant: maxConcurrentStatements,
      maxWaitingPerTenant: Number.POSITIVE_INFINITY,
    });
    this.#signal = signal;
    this.#reading = { ...reader, columns: countColumnReads(reader.columns, this.#statementCost, signal) };
    this.#batcher = new QueryBatcher({
      batchDelayMs: 0,
      batchTimeoutMs,
      singleTimeoutMs,
      async runInSlot(work) {
        const releaseSlot = await queue.acquire(tenantId);
        try {
          return await work();
        } finally {
          releaseSlot();
        }
      },
    });
  }

  /** Query context for other work of the request; what it reads counts towards the cost. */
  get reading(): QueryReader {
    return this.#reading;
  }

  /** Cost of all statements so far, each counted once. */
  get cost(): Cost {
    return { ...this.#statementCost, elapsedMs: performance.now() - this.#startMs, isCached: false };
  }

  /**
   * Returns the result of `run` over the retained part of the range; `partial` says what is not retained. Its cost is
   * that of all its statements, including shared ones.
   */
  getResult(query: Query, context: QueryContext): Promise<Result> {
    const key = createResultKey(query, context);
    const result = this.#results.get(key) ?? this.#run(query, context);
    this.#results.set(key, result);
    return result;
  }

  async #run(query: Query, context: QueryContext): Promise<Result> {
    const startMs = performance.now();
    const signal = this.#signal;
    const cost = { rowsRead: 0, bytesRead: 0 };
    const onCost = (partialCost: typeof cost): void => {
      cost.rowsRead += partialCost.rowsRead;
      cost.bytesRead += partialCost.bytesRead;
    };
    const { nowMs } = this.#reading;
    const retained = restrictToRetention(context.range, listSignals(query), { caller: this.#reading, nowMs });
    const retainedContext = { ...context, range: retained.range };
    const [result, freshness] = await Promise.all([
      this.#batcher.run(query, this.#reading, retainedContext, { signal, onCost }),
      this.#getFreshness(query),
    ]);
    this.#valueCount += countValues(result);
    if (this.#valueCount > maxValues)
      throw new QueryError(
        'VALIDATION_FAILED',
        `the answers before this one hold ${maxValues} values, the maximum of one request: request fewer panels, or a longer step`,
      );
    const countedReader = { ...this.#reading, columns: countColumnReads(this.#reading.columns, cost, signal) };
    const hint = await getHint(query, result, countedReader, retained.range);
    return {
      ...result,
      partial: [...result.partial, ...retained.partial],
      from: formatTime(context.range.from),
      to: formatTime(context.range.to),
      stepMs: context.stepMs ?? null,
      cost: { ...cost, elapsedMs: performance.now() - startMs, isCached: false },
      freshness,
      ...(hint === undefined ? {} : { hint }),
    };
  }

  #getFreshness(query: Query): Promise<Result['freshness']> {
    const key = listSignals(query).toSorted().join(' ');
    const freshness = this.#freshness.get(key) ?? getFreshness(query, this.#reading);
    this.#freshness.set(key, freshness);
    return freshness;
  }
}
