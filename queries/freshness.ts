/** Determines the freshness of a query's data. */
import type { Query } from './query.ts';
import { getQueryKind, listPartQueries } from './query-kind.ts';
import type { Result } from './result.ts';
import { signalDefinitions as definitions, type ReadSignal } from './signals/index.ts';
import type { TenantReader } from './tenant-reader.ts';
import { formatTime } from './time.ts';

const freshnessMinutes = 20;

/** Returns the data sources that a query reads, including those of its parts. */
export const listSignals = (query: Query): readonly ReadSignal[] => {
  const partSignals = listPartQueries(query).flatMap(([, part]) => listSignals(part));
  return [...new Set([...getQueryKind(query).signals(query), ...partSignals])];
};

interface Row {
  readonly records: string;
  readonly newest: string;
}

/**
 * Returns the freshness that sinks report, without reading records. Stored data stays stored, so the value also
 * holds for a result that is read later.
 */
const readWatermark = async (reader: TenantReader, signal: ReadSignal): Promise<bigint | undefined> => {
  const watermarkMs = await reader.columns.getStoredUpToMs(definitions[signal].newest.table);
  if (watermarkMs === undefined) return readStoredWatermark(reader, signal);
  return watermarkMs < getOldestReportedMs(reader) ? undefined : BigInt(watermarkMs) * 1_000_000n;
};

const getOldestReportedMs = ({ nowMs }: TenantReader): number => Math.trunc(nowMs) - freshnessMinutes * 60_000;

/**
 * Reads the freshness from the table if no sink reported it: nothing was stored since the start of the process, or the
 * sink does not report. Recently received rows are in few parts, near the end of each, so little of the table is read.
 */
const readStoredWatermark = async (reader: TenantReader, signal: ReadSignal): Promise<bigint | undefined> => {
  const { table, time, upTo } = definitions[signal].newest;
  const rows = await reader.columns.query<Row>(
    `SELECT count() AS records, toString(toUnixTimestamp64Milli(${upTo ?? 'max(received_at)'})) AS newest FROM ${table}
    WHERE tenant_id = {tenant:String} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND ${time} >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
    { since: String(getOldestReportedMs(reader)) },
    // Only a maximum can be combined from the parts.
    { runsOnEachServer: upTo === undefined },
  );
  const newest = rows.filter(({ records }) => records !== '0').map((row) => Number(row.newest));
  return newest.length === 0 ? undefined : BigInt(Math.max(...newest)) * 1_000_000n;
};

/** Returns the earliest watermark of a query's data sources: the result is complete up to that time. */
export const getFreshness = async (query: Query, reader: TenantReader): Promise<Result['freshness']> => {
  const signals = listSignals(query);
  const newest = await Promise.all(signals.map((signal) => readWatermark(reader, signal)));
  if (signals.length === 0) return { value: null, reason: 'measurements and results are read, not records' };
  const signalsWithoutRecords = signals.filter((_signal, index) => newest[index] === undefined);
  if (signalsWithoutRecords.length > 0)
    return {
      value: null,
      reason: `no ${signalsWithoutRecords.join(' and no ')} of the last ${freshnessMinutes} minutes have landed`,
    };
  const [earliest = 0n] = (newest as bigint[]).toSorted((left, right) => Number(left - right));
  return { landedUpTo: formatTime(earliest) };
};
