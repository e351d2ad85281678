/** Stores OTLP requests without a bus: they are scanned and inserted like in the sinks. */
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import { logsRequest, messageOf, metricsRequest, scannerOf, text, tracesRequest } from '../cases/sink-tables.ts';

const requests = { logs: logsRequest, traces: tracesRequest, metrics: metricsRequest } as const;
let landings = 0;

export interface Landing {
  readonly tenantId?: string;
  readonly projectId?: string;
  readonly signal: keyof typeof requests;
  readonly request: object;
  /** When the request was received. */
  readonly atMs?: number;
}

export const landOtlp = async (
  columns: Columns,
  { tenantId = 'a', projectId = 'shop', signal, request, atMs = Date.now() }: Landing,
): Promise<void> => {
  const scanner = await scannerOf(signal);
  const body = requests[signal](request);
  const received = {
    length: body.length,
    size: body.length,
    records: 1,
    receivedAtMs: atMs,
    source: '',
    traceparent: '',
  };
  const message = messageOf([body], { tenantId, projectId, signal, members: [received], offset: ++landings });
  const { blocks, rejected } = scanBatch(
    scanner,
    [{ ...message, timestampMs: atMs }],
    0,
    1,
    (bytes) => new Uint8Array(bytes),
  );
  if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected)}`);
  for (const block of blocks) await columns.insert({ ...block, chunks: [block.bytes] }, `landing:${++landings}`);
};

/** A resource with string attributes. */
export const resourceOf = (attributes: Readonly<Record<string, string>>): object => ({
  attributes: Object.entries(attributes).map(([key, value]) => text(key, value)),
});

/** Stores all messages of a topic like its sink. A second call would store them again. */
export const landTopic = async ({ bus, columns }: { bus: Bus; columns: Columns }, topic: string): Promise<void> => {
  const scanner = await scannerOf(topic);
  for (const { partition, earliest, end } of await bus.offsets(topic)) {
    if (end === earliest) continue;
    const messages = [];
    for await (const record of bus.read(topic, partition, earliest, end)) messages.push(record);
    const { blocks, rejected } = scanBatch(scanner, messages, partition, 1, (bytes) => new Uint8Array(bytes));
    if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected)}`);
    for (const block of blocks)
      await columns.insert({ ...block, chunks: [block.bytes] }, `${topic}:${partition}:${earliest}-${end}`);
  }
};
