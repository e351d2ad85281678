/** Freshness of a query's data. */
import type { Query } from './query.ts';
import { kindOf, partsOf } from './query-kind.ts';
import type { Reading } from './reading.ts';
import type { Result } from './result.ts';
import { signals as definitions, type ReadSignal } from './signals/index.ts';
import { formatTime } from './time.ts';

const minutes = 20;

/** Returns the data sources that a query reads, including those of its parts. */
export const signalsOf = (query: Query): readonly ReadSignal[] => {
  const inParts = partsOf(query).flatMap(([, part]) => signalsOf(part));
  return [...new Set([...kindOf(query).signals(query), ...inParts])];
};

interface Row {
  readonly records: string;
  readonly newest: string;
}

/**
 * Returns the freshness reported by sinks, without reading records. Stored data stays stored, so the value is valid for
 * the answer.
 */
const newestOf = async (reading: Reading, signal: ReadSignal): Promise<bigint | undefined> => {
  const watermarkMs = await reading.columns.landedUpTo(definitions[signal].newest.table);
  if (watermarkMs === undefined) return newestStored(reading, signal);
  return watermarkMs < sinceMs(reading) ? undefined : BigInt(watermarkMs) * 1_000_000n;
};

const sinceMs = ({ nowMs }: Reading): number => Math.trunc(nowMs) - minutes * 60_000;

/**
 * Reads the freshness from the table if none was reported: nothing was stored since a start, or the sink does not
 * report. Recently received rows are in few parts, near the end of each, so little of the table is read.
 */
const newestStored = async (reading: Reading, signal: ReadSignal): Promise<bigint | undefined> => {
  const { table, time, upTo } = definitions[signal].newest;
  const rows = await reading.columns.query<Row>(
    `SELECT count() AS records, toString(toUnixTimestamp64Milli(${upTo ?? 'max(received_at)'})) AS newest FROM ${table}
    WHERE tenant_id = {tenant:String} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND ${time} >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
    { since: String(sinceMs(reading)) },
    // Only a maximum can be combined from the parts.
    { ofEachServer: upTo === undefined },
  );
  const newest = rows.filter(({ records }) => records !== '0').map((row) => Number(row.newest));
  return newest.length === 0 ? undefined : BigInt(Math.max(...newest)) * 1_000_000n;
};

/** Returns the earliest freshness of a query's data sources: the answer is complete up to that time. */
export const freshnessOf = async (query: Query, reading: Reading): Promise<Result['freshness']> => {
  const signals = signalsOf(query);
  const newest = await Promise.all(signals.map((signal) => newestOf(reading, signal)));
  if (signals.length === 0) return { value: null, reason: 'measurements and results are read, not records' };
  const silent = signals.filter((_signal, index) => newest[index] === undefined);
  if (silent.length > 0)
    return { value: null, reason: `no ${silent.join(' and no ')} of the last ${minutes} minutes have landed` };
  const [earliest = 0n] = (newest as bigint[]).toSorted((one, other) => Number(one - other));
  return { landedUpTo: formatTime(earliest) };
};
