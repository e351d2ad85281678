/**
 * A chain as a file that can be verified without a store: JSON lines. A header is first, then the records in order,
 * each signed head after the last record that it covers, and a final line. A file without the final line is truncated.
 */
import { z } from 'zod';
import { EvidenceHead } from '../../../../schemas/evidence.ts';
import { AuditRecord } from '../../../../schemas/resources/audit-record.ts';
import type { ChainItem } from './verify-chain.ts';

export const EvidenceHeader = z.strictObject({
  type: z.literal('evidence'),
  format: z.literal(1),
  tenantId: z.string(),
  organization: z.string(),
  exportedAt: z.iso.datetime(),
  keyId: z.string(),
  publicKey: z.string(),
});
export type EvidenceHeader = z.output<typeof EvidenceHeader>;

const EvidenceEnd = z.strictObject({ type: z.literal('end'), sequence: z.int(), hash: z.string() });
export const EvidenceLine = z.union([
  z.strictObject({ type: z.literal('record'), record: AuditRecord }),
  z.strictObject({ type: z.literal('head'), head: EvidenceHead }),
  EvidenceEnd,
]);
export type EvidenceLine = z.output<typeof EvidenceLine>;

const formatLine = (value: EvidenceLine | EvidenceHeader): string => `${JSON.stringify(value)}\n`;

/** Yields the lines of an evidence file. `end` is the content of the head document. */
export async function* writeEvidenceLines(
  header: Omit<EvidenceHeader, 'type' | 'format'>,
  items: AsyncIterable<ChainItem>,
  end: { readonly sequence: number; readonly hash: string },
): AsyncGenerator<string> {
  yield formatLine({ type: 'evidence', format: 1, ...header });
  for await (const item of items) {
    // Only the fields of the schemas, without the store's own fields.
    if ('record' in item) yield formatLine({ type: 'record', record: AuditRecord.strip().parse(item.record) });
    else yield formatLine({ type: 'head', head: EvidenceHead.strip().parse(item.head) });
  }
  yield formatLine({ type: 'end', ...end });
}
