import { formatCsvRow } from '../../csv.ts';
import type { StoredRecord } from './chain/record-pages.ts';

const columns: Readonly<Record<string, (record: StoredRecord) => string | number>> = {
  sequence: ({ sequence }) => sequence,
  id: ({ id }) => id,
  at: ({ at }) => at,
  action: ({ action }) => action,
  actor_type: ({ actor }) => actor.type,
  actor_id: ({ actor }) => actor.id,
  actor_name: ({ details }) => details?.actorName ?? '',
  resource_type: ({ resource }) => resource.type,
  resource_id: ({ resource }) => resource.id,
  resource_name: ({ details }) => details?.resourceName ?? '',
  address: ({ details }) => details?.address ?? '',
  request_id: ({ requestId }) => requestId,
  changes: ({ details }) => (details === null ? '' : JSON.stringify(details.changes)),
  erased: ({ details }) => String(details === null),
  hash: ({ hash }) => hash,
};

/** Records as lines of CSV */
export async function* writeCsvLines(records: AsyncIterable<StoredRecord>): AsyncGenerator<string> {
  yield formatCsvRow(Object.keys(columns));
  for await (const record of records) yield formatCsvRow(Object.values(columns).map((cell) => cell(record)));
}
