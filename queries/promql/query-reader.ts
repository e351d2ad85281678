import type { TenantReader } from '../tenant-reader.ts';
import type { Promql } from './evaluation/threads.ts';
import type { Translation } from './otlp/labels.ts';
import type { Series } from './series.ts';

/** Evaluation threads of PromQL, and their translation of OTLP series. */
export interface PromqlDependencies {
  readonly threads: Promql;
  readonly translation: Translation;
  /**
   * Samples that are not stored yet, but are evaluated as if they were: those of series recorded for the evaluation
   * time.
   */
  readonly additionalSeries?: readonly Series[] | undefined;
}

/** Dependencies of every kind of `Query`; without `promql`, PromQL queries are rejected. */
export interface QueryReader extends TenantReader {
  readonly promql?: PromqlDependencies | undefined;
}
