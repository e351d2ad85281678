import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Caller } from '../../callers/caller.ts';
import { csvType, inPieces, jsonLinesType } from '../../csv.ts';
import { invalidFields } from '../../errors.ts';
import { defineOperation, type Sent } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { evidenceLines } from './chain/evidence-file.ts';
import { recordsInOrder, type StoredRecord } from './chain/record-pages.ts';
import { filterOf, spanOf } from './chain/record-search.ts';
import { chainItems, extentOf } from './chain/verify-chain.ts';
import { csvLines } from './csv.ts';
import { filterFields, recordFilterOf, viewOf } from './views.ts';

export const exportAuditRecords = defineOperation({
  method: 'GET',
  path: '/api/audit/export',
  operationId: 'exportAuditRecords',
  summary: 'Export audit records, oldest first; format=evidence exports the whole chain for `oiq evidence verify`',
  role: 'auditor',
  audit: 'audit-log.export',
  contentType: [jsonLinesType, csvType],
  query: z.strictObject({ format: z.enum(['ndjson', 'csv', 'evidence']).default('ndjson'), ...filterFields }),
  response: z.custom<Sent>(),
  async handler({ caller, query: { format, ...given }, request }, ports): Promise<Sent> {
    const filter = recordFilterOf(given, ports.clock.now());
    if (format === 'evidence') refuseFilter(given);
    const day = new Date(ports.clock.now()).toISOString().slice(0, 10);
    const lines = format === 'evidence' ? await evidence(caller, ports) : await selected(format, filter, caller, ports);
    request.reply('Content-Disposition', `attachment; filename="audit-${day}.${format === 'csv' ? 'csv' : 'ndjson'}"`);
    return { contentType: format === 'csv' ? csvType : jsonLinesType, content: Readable.from(inPieces(lines)) };
  },
});

const refuseFilter = (given: object): void => {
  const details = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([path]) => ({
      path,
      message: 'cannot be combined with format=evidence: only the whole chain can be verified',
    }));
  if (details.length > 0) throw invalidFields(details);
};

const selected = async (
  format: 'ndjson' | 'csv',
  filter: Parameters<typeof filterOf>[0],
  { tenantId }: Caller,
  { documents }: Ports,
): Promise<AsyncIterable<string>> => {
  const span = await spanOf(documents, tenantId, filter);
  const records = recordsInOrder(documents, tenantId, span, filterOf(filter));
  return format === 'csv' ? csvLines(records) : viewLines(records);
};

async function* viewLines(records: AsyncIterable<StoredRecord>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(viewOf(record))}\n`;
}

/** Signs first, so that the last head of the file covers all records. */
const evidence = async ({ tenantId, organization }: Caller, ports: Ports): Promise<AsyncIterable<string>> => {
  const { documents, clock } = ports;
  const { heads, key, signer } = ports.evidence;
  await signer.sign(tenantId);
  const extent = await extentOf({ documents, heads, key }, tenantId);
  return evidenceLines(
    {
      tenantId,
      organization: organization.name,
      exportedAt: new Date(clock.now()).toISOString(),
      keyId: key.id,
      publicKey: key.publicKey,
    },
    chainItems({ documents, heads }, tenantId, extent),
    extent.end,
  );
};
