/** Processors of `one-reading.ts`: the product's log processors unless `BENCH_REAL=0`, and `BENCH_IDLE` idle ones. */
import '../../subjects/query-kinds.ts';
import { defineProcessor, type Processor } from '../../processors/engine/definition.ts';
import { processors as registered } from '../../processors/registry.ts';
import { logRecords } from '../../schemas/records/sources.ts';

const idle = Array.from({ length: Number(process.env['BENCH_IDLE'] ?? 0) }, (_, index) =>
  defineProcessor({ name: `idle-${index}`, summary: 'Wants nothing', reads: logRecords, step: () => undefined }),
);

const real =
  process.env['BENCH_REAL'] === '0' ? [] : registered.filter(({ reads }) => (reads as unknown) === logRecords);

export const processors: readonly Processor[] = [...real, ...idle];
