import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Caller } from '../../callers/caller.ts';
import { csvType, joinIntoChunks, jsonLinesType } from '../../csv.ts';
import { createFieldErrors } from '../../errors.ts';
import { type ContentResponse, defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { writeEvidenceLines } from './chain/evidence-file.ts';
import { readRecordsInOrder, type StoredRecord } from './chain/record-pages.ts';
import { findSequenceRange, toDocumentFilter } from './chain/record-search.ts';
import { readChainItems, readExtent } from './chain/verify-chain.ts';
import { writeCsvLines } from './csv.ts';
import { filterFields, toRecordFilter, toRecordView } from './views.ts';

export const exportAuditRecords = defineOperation({
  method: 'GET',
  path: '/api/audit/export',
  operationId: 'exportAuditRecords',
  summary: 'Export audit records, oldest first; format=evidence exports the whole chain for `oiq evidence verify`',
  role: 'auditor',
  audit: 'audit-log.export',
  contentType: [jsonLinesType, csvType],
  query: z.strictObject({ format: z.enum(['ndjson', 'csv', 'evidence']).default('ndjson'), ...filterFields }),
  response: z.custom<ContentResponse>(),
  async handler({ caller, query: { format, ...filterQuery }, request }, ports): Promise<ContentResponse> {
    const filter = toRecordFilter(filterQuery, ports.clock.now());
    if (format === 'evidence') requireNoFilter(filterQuery);
    const day = new Date(ports.clock.now()).toISOString().slice(0, 10);
    const lines =
      format === 'evidence'
        ? await createEvidenceLines(caller, ports)
        : await createSelectedLines(format, filter, caller, ports);
    request.reply('Content-Disposition', `attachment; filename="audit-${day}.${format === 'csv' ? 'csv' : 'ndjson'}"`);
    return { contentType: format === 'csv' ? csvType : jsonLinesType, content: Readable.from(joinIntoChunks(lines)) };
  },
});

const requireNoFilter = (filters: object): void => {
  const details = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([path]) => ({
      path,
      message: 'cannot be combined with format=evidence: only the whole chain can be verified',
    }));
  if (details.length > 0) throw createFieldErrors(details);
};

const createSelectedLines = async (
  format: 'ndjson' | 'csv',
  filter: Parameters<typeof toDocumentFilter>[0],
  { tenantId }: Caller,
  { documents }: Ports,
): Promise<AsyncIterable<string>> => {
  const sequenceRange = await findSequenceRange(documents, tenantId, filter);
  const records = readRecordsInOrder(documents, tenantId, sequenceRange, toDocumentFilter(filter));
  return format === 'csv' ? writeCsvLines(records) : writeViewLines(records);
};

async function* writeViewLines(records: AsyncIterable<StoredRecord>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(toRecordView(record))}\n`;
}

/** Yields the lines of an evidence file. Signs new records first, so that the last head of the file covers all records. */
const createEvidenceLines = async (
  { tenantId, organization }: Caller,
  ports: Ports,
): Promise<AsyncIterable<string>> => {
  const { documents, clock } = ports;
  const { heads, key, signer } = ports.evidence;
  await signer.sign(tenantId);
  const extent = await readExtent({ documents, heads, key }, tenantId);
  return writeEvidenceLines(
    {
      tenantId,
      organization: organization.name,
      exportedAt: new Date(clock.now()).toISOString(),
      keyId: key.id,
      publicKey: key.publicKey,
    },
    readChainItems({ documents, heads }, tenantId, extent),
    extent.end,
  );
};
