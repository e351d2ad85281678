/** Batches of log records as the bus delivers them, and a handler that lands them. */
import type { ExecutionContext } from 'ava';
import type { Batch, BusRecord } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { topics } from '../../schemas/topics.ts';
import { createBatchHandler } from '../../sinks/engine/run.ts';
import type { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { sinks } from '../../sinks/registry.ts';
import { logsRequest, messageOf, text } from '../cases/sink-tables.ts';

/** Records with numbered bodies. */
export const logBatch = (
  tenantId: string,
  partition: number,
  { first, records }: { readonly first: number; readonly records: number },
): Batch => ({
  topic: topics.logs.name,
  partition,
  first,
  last: first + records - 1,
  records: Array.from({ length: records }, (_, index): BusRecord => {
    const offset = first + index;
    const resource = { attributes: [text('service.name', 'cart')] };
    const logRecords = [{ body: { stringValue: String(offset) } }];
    const body = logsRequest({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
    const { headers, value } = messageOf([body], { tenantId, offset });
    return { offset, timestampMs: Date.now(), key: tenantId, headers, value: Buffer.from(value) };
  }),
});

/** A handler of the log sink without any state, as after a restart. Nothing may be published. */
export const newLanding = (
  t: ExecutionContext,
  columns: Columns,
  pool: ScanPool,
): ((batch: Batch) => Promise<void>) => {
  const sink = sinks.find(({ name }) => name === 'logs');
  if (sink === undefined) throw new Error('no sink logs');
  const refuse = async () => t.fail('something was published');
  const producer = { publish: refuse, transaction: refuse, close: async () => {} };
  return createBatchHandler(sink, {
    producer,
    columns,
    pool,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
  });
};
