/** What a read of telemetry runs with. Every query of `queries/` takes one, and nothing else of the one who asks. */
import type { TenantColumns } from '../schemas/ports/columns.ts';
import type { Reader } from './entitlement.ts';

/** One tenant's rows, the plan by which they may be read, and the time at which it is asked. */
export interface Reading extends Reader {
  readonly columns: TenantColumns;
  /** Milliseconds since the epoch; `now-15m` and the retention are counted from here. */
  readonly nowMs: number;
}
