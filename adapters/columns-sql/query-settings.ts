/** The engine's settings for inserts and reads, including the limits and tenant filters of reads. */
import type { QueryLimits } from '../../schemas/ports/columns.ts';
import { indexesBuiltByMerges } from '../../schemas/tables/search.ts';

const gibibyte = 1024 ** 3;
const defaultLimits = { maxExecutionSeconds: 30, maxMemoryBytes: 2 * gibibyte, maxResultRows: 100_000 };
const maxResultBytes = 256 * 1024 ** 2;

/** Settings of every insert: stored when it resolves, deduplicated by token, also in views, with one thread. */
export const buildInsertSettings = (token: string): Readonly<Record<string, string | number>> => ({
  insert_deduplication_token: token,
  // This is also the engine's default, but not the default of services that preserve the defaults of an earlier
  // version.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  async_insert: 0,
  max_insert_threads: 1,
  exclude_materialize_skip_indexes_on_insert: indexesBuiltByMerges.join(', '),
});

/** Settings of every read: the limits, and a result format that preserves all digits of numbers. */
export const toLimitSettings = (
  limits: QueryLimits,
  tenantId: string | undefined,
  maxMemory = Number.POSITIVE_INFINITY,
) => ({
  // 1 prevents a statement from changing settings or reaching external sources; statements of the platform may contain
  // settings.
  readonly: tenantId === undefined ? 2 : 1,
  max_execution_time: limits.maxExecutionSeconds ?? defaultLimits.maxExecutionSeconds,
  max_memory_usage: Math.min(limits.maxMemoryBytes ?? defaultLimits.maxMemoryBytes, maxMemory),
  max_result_rows: limits.maxResultRows ?? defaultLimits.maxResultRows,
  max_result_bytes: maxResultBytes,
  ...(limits.maxRowsRead !== undefined && { max_rows_to_read: limits.maxRowsRead }),
  ...(limits.isShort === true && { max_threads_for_indexes: 1 }),
  // Indexes are evaluated before the read: a trace takes a third less CPU time, and lists take no more.
  use_skip_indexes_on_data_read: 0,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
  output_format_write_statistics: 1,
});
