import type { Reading } from '../reading.ts';
import type { Promql } from './evaluation/threads.ts';
import type { Translation } from './otlp/labels.ts';
import type { Series } from './series.ts';

/** Threads that evaluate PromQL, and how OTLP becomes Prometheus' series for them. */
export interface PromqlReading {
  readonly threads: Promql;
  readonly translation: Translation;
  /** Samples that count as stored, although they have not landed: of series that were recorded for the time that is asked for. */
  readonly added?: readonly Series[] | undefined;
}

/** What every kind of `Query` runs with; without `promql` queries of that kind are refused. */
export interface QueryReading extends Reading {
  readonly promql?: PromqlReading | undefined;
}
