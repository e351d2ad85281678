/** What a read of telemetry runs with. Every query of `queries/` takes one, and nothing else of the one who asks. */
import type { TenantColumns } from '../schemas/ports/columns.ts';
import type { Reader } from './entitlement.ts';
import type { Promql } from './promql/evaluation/threads.ts';
import type { Translation } from './promql/otlp/labels.ts';

/** One tenant's rows, the plan by which they may be read, and the time at which it is asked. */
export interface Reading extends Reader {
  readonly columns: TenantColumns;
  /** Milliseconds since the epoch; `now-15m` and the retention are counted from here. */
  readonly nowMs: number;
  /** Evaluates PromQL; without it queries of that kind are refused. */
  readonly promql?: PromqlReading | undefined;
}

/** Threads that evaluate PromQL, and how OTLP becomes Prometheus' series for them. */
export interface PromqlReading {
  readonly threads: Promql;
  readonly translation: Translation;
}
