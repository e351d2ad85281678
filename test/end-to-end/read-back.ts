/** Reads stored rows without the product's own reads: bodies and their counts. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@clickhouse/client';
import { stretched } from '../waiting.ts';

type Row = { readonly body: string; readonly times: string | number };

const sql = (service: string): string =>
  `SELECT body, count() AS times FROM logs WHERE service = '${service}' GROUP BY body`;

const counted = (rows: readonly Row[]): Map<string, number> =>
  new Map(rows.map(({ body, times }) => [body, Number(times)]));

/** Rows of a query over the data directory of a stopped process, each a line of JSON. */
const rowsEmbedded = async <Row>(dataDirectory: string, query: string): Promise<Row[]> => {
  const directory = join(dataDirectory, 'columns', 'engine');
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url), directory, query];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1024 ** 3 });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
};

/** Total records of the usage ledger. */
export const readLedgerEmbedded = async (dataDirectory: string): Promise<{ accepted: number; landed: number }> => {
  const [row] = await rowsEmbedded<{ accepted: string; landed: string }>(
    dataDirectory,
    "SELECT sumIf(records, outcome = 'accepted') AS accepted, sum(landed_records) AS landed FROM usage FINAL",
  );
  return { accepted: Number(row?.accepted), landed: Number(row?.landed) };
};

/**
 * Reads from the data directory of a stopped process, in a child process: the engine opens one directory per process,
 * and a test may read several.
 */
export const readBackEmbedded = async (dataDirectory: string, service: string): Promise<Map<string, number>> =>
  counted(await rowsEmbedded<Row>(dataDirectory, sql(service)));

export const readBackClickhouse = async (url: string, service: string): Promise<Map<string, number>> => {
  const client = createClient({
    url,
    request_timeout: stretched(30_000),
    // Prevents a warning of the client about its long timeout.
    clickhouse_settings: { send_progress_in_http_headers: 1, http_headers_progress_interval_ms: '10000' },
  });
  try {
    const result = await client.query({ query: sql(service), format: 'JSONEachRow' });
    return counted(await result.json());
  } finally {
    await client.close();
  }
};

if (import.meta.main) {
  const [directory = '', query = ''] = process.argv.slice(2);
  // Imported here, so that other users of this file do not load the engine.
  const { Session } = await import('chdb');
  const session = new Session(directory);
  process.stdout.write((await session.queryAsync(query, { format: 'JSONEachRow' })).text());
  session.close();
}
