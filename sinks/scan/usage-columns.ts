import type { TableRow } from '../../schemas/tables/row.ts';
import { type UsageOutcome, usageTable } from '../../schemas/tables/usage.ts';
import { ValueRows } from '../native/value-rows.ts';

/** One row of the ledger. */
export type UsageRow = Omit<TableRow<typeof usageTable>, 'hour'> & {
  readonly outcome: UsageOutcome;
  /** Hours since the epoch. */
  readonly hour: number;
};

/** A row without counts, as a base for other rows. */
export const emptyUsageRow: UsageRow = {
  tenant_id: '',
  project_id: '',
  key_id: '',
  signal: '',
  outcome: 'accepted',
  reason: '',
  service: '',
  hour: 0,
  partition: 0,
  offset: 0,
  id: '',
  requests: 0,
  records: 0,
  bytes: 0,
  landed_records: 0,
  landed_bytes: 0,
};

const hourMs = 3_600_000;

/** A count from a header or a report; an invalid count becomes 0. */
const toValidCount = (value: number | bigint): number => (Number.isSafeInteger(value) && value > 0 ? Number(value) : 0);

/** Writes rows of the ledger. */
export class UsageColumns {
  readonly #values = new ValueRows(usageTable);
  readonly rows = this.#values.rows;

  push(row: UsageRow): void {
    this.#values.push({
      ...row,
      hour: toValidCount(row.hour) * hourMs,
      requests: toValidCount(row.requests),
      records: toValidCount(row.records),
      bytes: toValidCount(row.bytes),
      landed_records: toValidCount(row.landed_records),
      landed_bytes: toValidCount(row.landed_bytes),
    });
  }
}
