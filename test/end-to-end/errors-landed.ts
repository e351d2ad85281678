/** Errors from OTLP records to stored rows, through the processors and the sink. */
import { errorOccurrences } from '../../processors/errors/error-occurrences.ts';
import { logErrors } from '../../processors/errors/log-errors.ts';
import { spanErrors } from '../../processors/errors/span-errors.ts';
import type { ErrorOccurrence, RaisedError } from '../../schemas/error-occurrences.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { topics } from '../../schemas/topics.ts';
import { createBatchHandler } from '../../sinks/engine/run.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { errorOccurrences as sink } from '../../sinks/errors.ts';
import { TaskRun } from '../cases/run-task.ts';

export interface Resource {
  readonly tenant?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly logs?: readonly object[];
  readonly spans?: readonly object[];
  /** When the record is received; by default now. */
  readonly atMs?: number;
}

let offset = 0;

/** The occurrences that the processors extract from records. */
export const occurrencesOf = (resources: readonly Resource[]): ErrorOccurrence[] => {
  const raised: RaisedError[] = [];
  let latestMs = 0;
  for (const { tenant = 'a', attributes, logs = [], spans = [], atMs = Date.now() } of resources) {
    latestMs = Math.max(latestMs, atMs);
    for (const [processor, signal, records] of [
      [logErrors, 'logs', logs],
      [spanErrors, 'spans', spans],
    ] as const) {
      if (records.length === 0) continue;
      const run = new TaskRun(processor, { partition: offset++ % 1000 });
      run[signal](records, attributes, { tenantId: tenant, atMs });
      raised.push(...run.emitted<RaisedError>(topics.raisedErrors));
    }
  }
  const counting = new TaskRun(errorOccurrences);
  for (const each of raised) counting.values([each], { tenantId: each.tenantId, atMs: latestMs });
  counting.tick(latestMs + 120_000);
  return counting.emitted<ErrorOccurrence>(topics.errorOccurrences);
};

/** Stores occurrences like the sink. */
export const landErrors = async (columns: Columns, resources: readonly Resource[]): Promise<ErrorOccurrence[]> => {
  const occurrences = occurrencesOf(resources);
  const timestampMs = Math.max(...resources.map(({ atMs = Date.now() }) => atMs));
  const records = occurrences.map(
    (value, index): BusRecord => ({
      offset: offset + index,
      timestampMs,
      key: value.tenantId,
      headers: { tenant: value.tenantId },
      value: Buffer.from(JSON.stringify([value])),
    }),
  );
  offset += records.length;
  const pool = new ScanPool(new URL('../../sinks/registry.ts', import.meta.url), 1);
  const producer = {
    publish: () => Promise.reject(new Error('an occurrence did not land')),
    transaction: () => Promise.reject(new Error('nothing is published here')),
    close: async () => {},
  };
  const handle = createBatchHandler(sink, {
    columns,
    producer,
    pool,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
  });
  const [first, last] = [records[0]?.offset ?? 0, records.at(-1)?.offset ?? 0];
  await handle({ topic: topics.errorOccurrences.name, partition: 0, first, last, records });
  await pool.close();
  return occurrences;
};
