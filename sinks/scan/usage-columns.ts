import { type UsageOutcome, usageTable } from '../../schemas/tables/usage.ts';
import { NumberColumn, WordsColumn } from '../native/fixed.ts';
import { type Rows, rowsOf } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';

/** One row of the ledger. */
export interface UsageRow {
  readonly tenantId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly signal: string;
  readonly outcome: UsageOutcome;
  readonly reason: string;
  readonly service: string;
  /** Hours since the epoch. */
  readonly hour: number;
  readonly partition: number;
  readonly offset: number;
  readonly id: string;
  readonly requests: number;
  readonly records: number;
  readonly bytes: number;
  readonly landedRecords: number;
  readonly landedBytes: number;
}

/** Whose row it is and of what kind, with nothing counted yet. */
export const emptyUsageRow: UsageRow = {
  tenantId: '',
  projectId: '',
  keyId: '',
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
  landedRecords: 0,
  landedBytes: 0,
};

const hourSeconds = 3_600;

/** A count that a header or a report gave; what is none counts nothing. */
const countOf = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);

/** The column writers of the ledger. */
export class UsageColumns {
  readonly #columns = {
    tenant_id: new DictionaryColumn(),
    hour: new NumberColumn('UInt32'),
    signal: new DictionaryColumn(),
    project_id: new DictionaryColumn(),
    key_id: new DictionaryColumn(),
    outcome: new DictionaryColumn(),
    reason: new DictionaryColumn(),
    service: new DictionaryColumn(),
    partition: new NumberColumn('UInt16'),
    offset: new WordsColumn('UInt64'),
    id: new StringColumn(),
    requests: new WordsColumn('UInt64'),
    records: new WordsColumn('UInt64'),
    bytes: new WordsColumn('UInt64'),
    landed_records: new WordsColumn('UInt64'),
    landed_bytes: new WordsColumn('UInt64'),
  } as const;
  readonly rows: Rows = rowsOf(usageTable, this.#columns);

  push(row: UsageRow): void {
    const columns = this.#columns;
    columns.tenant_id.pushText(row.tenantId);
    columns.hour.push(row.hour * hourSeconds);
    columns.signal.pushText(row.signal);
    columns.project_id.pushText(row.projectId);
    columns.key_id.pushText(row.keyId);
    columns.outcome.pushText(row.outcome);
    columns.reason.pushText(row.reason);
    columns.service.pushText(row.service);
    columns.partition.push(row.partition);
    columns.offset.pushInteger(row.offset);
    columns.id.pushText(row.id);
    columns.requests.pushInteger(countOf(row.requests));
    columns.records.pushInteger(countOf(row.records));
    columns.bytes.pushInteger(countOf(row.bytes));
    columns.landed_records.pushInteger(countOf(row.landedRecords));
    columns.landed_bytes.pushInteger(countOf(row.landedBytes));
  }
}
