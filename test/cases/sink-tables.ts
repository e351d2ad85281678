/** Scans request messages as a worker does, stores them in this process, and reads the rows back. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { encodeHeaders, type TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import type { RejectedMessage } from '../../sinks/engine/scan-messages.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { sinks } from '../../sinks/registry.ts';
import type { ScanMessage, Scanner } from '../../sinks/scan/scanner.ts';
import { copyColumns } from '../services/columns-template.ts';
import { requestTypes, writeRequestTypes } from './proto/load.ts';

export const receivedAtMs = Date.UTC(2026, 2, 1, 10, 0, 0, 123);
export const received = '2026-03-01 10:00:00.123';

/** A message; few tests need its time on the bus. */
export type TestMessage = Omit<ScanMessage, 'timestampMs'> & Partial<ScanMessage>;

/** Scans with a separate scanner, as a new process would, and inserts each block. */
type Land = (
  messages: readonly TestMessage[],
  options?: { sink?: string; scanner?: Scanner; serial?: number },
) => Promise<{
  readonly rejected: readonly RejectedMessage[];
  readonly rows: Readonly<Record<string, number>>;
}>;

export interface Tables {
  readonly columns: Columns;
  readonly land: Land;
  read<Row = Record<string, unknown>>(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

export const scannerOf = async (name: string): Promise<Scanner> => {
  const sink = sinks.find((each) => each.name === name);
  if (sink === undefined) throw new Error(`no sink is called ${name}`);
  return sink.scanner();
};

const toScanMessage = (message: TestMessage): ScanMessage => ({ timestampMs: receivedAtMs, ...message });

/** Returns a function that stores messages in these tables. */
export const landIn = (columns: Columns): Land => {
  // Tables accept each insert token once, and several callers may insert into them.
  const prefix = randomUUID();
  let inserts = 0;
  return async (messages, { sink = 'logs', scanner: given, serial = 1 } = {}) => {
    const scanner = given ?? (await scannerOf(sink));
    const { blocks, rejected } = scanBatch(
      scanner,
      messages.map(toScanMessage),
      0,
      serial,
      (bytes) => new Uint8Array(bytes),
    );
    const rows: Record<string, number> = {};
    for (const block of blocks) {
      rows[block.table] = block.rows;
      await columns.insert({ ...block, chunks: [block.bytes] }, `${prefix}:${++inserts}`);
    }
    for (const seen of scanner.landedHours) seen.settle(serial, true);
    return { rejected, rows };
  };
};

let openColumns = (directory: string): Promise<Columns> => {
  copyColumns(directory);
  return openChdbColumns({ directory });
};

/** Tables that are opened from now on have their columns there instead of in the engine of the process. */
export const useTables = (open: typeof openColumns): void => {
  openColumns = open;
};

export const openTables = async (): Promise<Tables> => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-sink-'));
  const columns = await openColumns(directory);
  await migrate(columns, silentLog);
  return {
    columns,
    land: landIn(columns),
    read: (sql) => columns.query(sql),
    async close() {
      await columns.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** A message with plain bodies. */
export const messageOf = (
  bodies: readonly Uint8Array[],
  { offset = 0, ...headers }: Partial<TelemetryHeaders> & { offset?: number } = {},
): ScanMessage => ({
  offset,
  timestampMs: receivedAtMs,
  value: Buffer.concat(bodies),
  headers: encodeHeaders({
    tenantId: 'acme',
    projectId: 'shop',
    keyId: 'key',
    signal: 'logs',
    format: 'otlp',
    encoding: 'identity',
    members: bodies.map(({ length }) => ({
      length,
      size: length,
      records: 1,
      receivedAtMs,
      source: '',
      traceparent: '',
    })),
    ...headers,
  }),
});

const encode = (type: (typeof requestTypes)['logs'], request: object): Uint8Array =>
  type.encode(type.fromObject(request)).finish();

/** Encodes a request as protobuf; ids are bytes, 64-bit numbers are decimal text. */
export const logsRequest = (request: object): Uint8Array => encode(requestTypes.logs, request);
export const tracesRequest = (request: object): Uint8Array => encode(requestTypes.traces, request);
export const metricsRequest = (request: object): Uint8Array => encode(requestTypes.metrics, request);
export const writeRequest = (version: 1 | 2, request: object): Uint8Array =>
  encode(writeRequestTypes[version], request);

export const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
