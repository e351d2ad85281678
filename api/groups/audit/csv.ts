import type { StoredRecord } from '../../audit/record-pages.ts';

/** Spreadsheets run a cell that begins like this as a formula. */
const formula = /^[\s]*[=+\-@\t\r]/;

const cellOf = (value: string | number): string => {
  const text = String(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};

const rowOf = (cells: readonly (string | number)[]): string => `${cells.map(cellOf).join(',')}\r\n`;

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

/** RFC 4180, every cell in quotes. A cell that a spreadsheet would run begins with an apostrophe instead. */
export async function* csvLines(records: AsyncIterable<StoredRecord>): AsyncGenerator<string> {
  yield rowOf(Object.keys(columns));
  for await (const record of records) yield rowOf(Object.values(columns).map((cell) => cell(record)));
}
