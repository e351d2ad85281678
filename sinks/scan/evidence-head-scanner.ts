import { GrowingHead } from '../../schemas/evidence.ts';
import { evidenceHeadsTable } from '../../schemas/tables/evidence-heads.ts';
import { NumberColumn, WordsColumn } from '../native/fixed.ts';
import { rowsOf } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import type { ScanMessage, Scanner } from './scanner.ts';

/** The scanner of the evidence-heads sink. A few messages a minute: plain objects do. */
export const evidenceHeadScanner = (): Scanner => {
  const columns = {
    tenant_id: new DictionaryColumn(),
    size: new WordsColumn('UInt64'),
    root: new StringColumn(),
    key_id: new DictionaryColumn(),
    last_hash: new StringColumn(),
    subtrees: new StringColumn(),
    signed_at: new WordsColumn("DateTime64(3, 'UTC')"),
    signature: new StringColumn(),
    partition: new NumberColumn('UInt16'),
    offset: new WordsColumn('UInt64'),
  } as const;
  return {
    tables: [rowsOf(evidenceHeadsTable, columns)],
    seen: [],
    scan({ value, offset }: ScanMessage, partition: number): void {
      const head = GrowingHead.parse(JSON.parse(Buffer.from(value).toString('utf8')));
      columns.tenant_id.pushText(head.tenantId);
      columns.size.pushInteger(head.size);
      columns.root.pushText(head.root);
      columns.key_id.pushText(head.keyId);
      columns.last_hash.pushText(head.lastHash);
      columns.subtrees.pushText(head.subtrees.join(''));
      columns.signed_at.pushInteger(Date.parse(head.signedAt));
      columns.signature.pushText(head.signature);
      columns.partition.push(partition);
      columns.offset.pushInteger(offset);
    },
    abandon() {},
  };
};
