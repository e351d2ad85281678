/** Context of a read of telemetry: everything that `queries/` knows about the reader. */
import type { TenantColumns } from '../schemas/ports/columns.ts';
import type { PlanReader } from './entitlement.ts';

/** Rows of one tenant, the plan that permits reading them, and the current time. */
export interface TenantReader extends PlanReader {
  readonly columns: TenantColumns;
  /** Milliseconds since the epoch; the reference of `now-15m` and of the retention. */
  readonly nowMs: number;
}
