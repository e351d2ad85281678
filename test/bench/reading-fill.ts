/** Stores a day of generated telemetry like the sinks, without a bus. */
import type { Columns } from '../../schemas/ports/columns.ts';
import { getTenantPartition } from '../../schemas/tables/sharding.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import { sinks } from '../../sinks/registry.ts';
import { logsBody, recordsPerRequest, type Slice, spansBody } from './reading-bodies.ts';

/** Requests per insert, as in a sink at full load. */
const requestsPerInsert = 96;

export interface Day {
  readonly records: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The slices of a day, in order. */
export function* slicesOf({ records, fromMs, toMs }: Day): Generator<Slice> {
  const requests = Math.ceil(records / recordsPerRequest);
  const width = (toMs - fromMs) / requests;
  for (let seed = 0; seed < requests; seed++)
    yield { seed, fromMs: fromMs + seed * width, toMs: fromMs + (seed + 1) * width };
}

const makers = { logs: logsBody, traces: spansBody } as const;

/**
 * Stores a day of a signal. Each body is also passed to `also`. `partitionOf` returns the partition of each insert, by
 * default that of the tenant. Inserting twice with the same `name` stores the data once.
 */
export const fill = async (
  columns: Columns,
  signal: 'logs' | 'traces',
  {
    tenantId,
    day,
    also,
    partitionOf = () => getTenantPartition(tenantId),
    name = 'fill',
  }: {
    tenantId: string;
    day: Day;
    also?: (body: Buffer) => Promise<void>;
    partitionOf?: (insert: number) => number;
    name?: string;
  },
): Promise<void> => {
  const scanner = await sinks.find(({ name }) => name === signal)?.scanner();
  if (scanner === undefined) throw new Error(`no sink is called ${signal}`);
  let serial = 0;
  let messages: Parameters<typeof scanBatch>[1] extends Iterable<infer Message> ? Message[] : never = [];
  let inserting: Promise<void> = Promise.resolve();
  const land = async (): Promise<void> => {
    serial++;
    const { blocks, rejected } = scanBatch(scanner, messages, 0, serial, (bytes) => new Uint8Array(bytes));
    if (rejected.length > 0) throw new Error(`a body was refused: ${rejected[0]?.message}`);
    messages = [];
    for (const seen of scanner.landedHours) seen.settle(serial, true);
    const at = serial;
    await inserting;
    inserting = (async () => {
      for (const block of blocks)
        await columns.insert({ ...block, chunks: [block.bytes] }, `${name}:${signal}:${at}`, partitionOf(at), [
          tenantId,
        ]);
    })();
  };
  for (const slice of slicesOf(day)) {
    const value = makers[signal](slice);
    await also?.(value);
    const receivedAtMs = Math.floor(slice.toMs);
    const headers = encodeHeaders({
      tenantId,
      projectId: 'default',
      keyId: 'key',
      signal,
      format: 'otlp',
      encoding: 'identity',
      members: [
        {
          length: value.length,
          size: value.length,
          records: recordsPerRequest,
          receivedAtMs,
          source: '',
          traceparent: '',
        },
      ],
    });
    messages.push({ offset: slice.seed, timestampMs: receivedAtMs, headers, value });
    if (messages.length >= requestsPerInsert) await land();
  }
  if (messages.length > 0) await land();
  await inserting;
};
