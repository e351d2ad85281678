import type { Reading } from '../reading.ts';
import type { Promql } from './evaluation/threads.ts';
import type { Translation } from './otlp/labels.ts';

/** Threads that evaluate PromQL, and how OTLP becomes Prometheus' series for them. */
export interface PromqlReading {
  readonly threads: Promql;
  readonly translation: Translation;
}

/** What every kind of `Query` runs with; without `promql` queries of that kind are refused. */
export interface QueryReading extends Reading {
  readonly promql?: PromqlReading | undefined;
}
