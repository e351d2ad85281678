import { Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { DictionaryColumn } from '../native/strings.ts';
import type { RowSource } from './source.ts';

const milliseconds = "DateTime64(3, 'UTC')";

/** Columns with the tenant and the bus position of a row. They repeat over a member and are filled once per run. */
export class OriginColumns {
  readonly columns = {
    tenant_id: new DictionaryColumn(),
    project_id: new DictionaryColumn(),
    received_at: new Int64Column(milliseconds),
    partition: new NumberColumn('UInt16'),
    offset: new Int64Column('UInt64'),
  } as const;

  /** Appends the same origin for `count` rows. */
  fill({ tenantId, projectId, partition, offset, receivedAtMs }: RowSource, count: number): void {
    if (count === 0) return;
    const { columns } = this;
    columns.tenant_id.pushRepeated(columns.tenant_id.findOrAddText(tenantId), count);
    columns.project_id.pushRepeated(columns.project_id.findOrAddText(projectId), count);
    columns.received_at.pushRepeated(receivedAtMs >>> 0, Math.floor(receivedAtMs / 4_294_967_296), count);
    columns.partition.pushRepeated(partition, count);
    columns.offset.pushRepeated(offset >>> 0, Math.floor(offset / 4_294_967_296), count);
  }
}
