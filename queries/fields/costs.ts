/** Estimates the storage shares of record attributes from a sample. */
import type { Range } from '../range.ts';
import { buildRangeCondition, buildRangeParameters } from '../records.ts';
import { getSignalRecords, type SearchSignal } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';

const maxRecords = 100_000;
const maxAttributes = 200;

export interface AttributeCost {
  readonly key: string;
  /** Share of the size of attributes and texts of all records, 0 to 1. */
  readonly share: number;
  /** Share of the records that have it. */
  readonly recordShare: number;
}

/** SQL of the size of a record's text, without its attributes. */
const textLengthSql: Readonly<Record<SearchSignal, string>> = { logs: 'length(body)', traces: 'length(name)' };

/**
 * Returns attributes of records (not of resources), largest first, with separate entries for the values inside arrays and maps, and the number of sampled records, 0 if there are
 * none.
 */
export const estimateAttributeCosts = async (
  { columns }: Pick<TenantReader, 'columns'>,
  signal: SearchSignal,
  range: Range,
): Promise<{ readonly sampleSize: number; readonly costs: readonly AttributeCost[] }> => {
  const sample = `SELECT CAST(attributes, 'Map(String, String)') AS parts, ${textLengthSql[signal]} AS own FROM ${getSignalRecords(signal).table}
    WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(signal)} LIMIT ${maxRecords}`;
  const lengths = 'arraySum(name -> length(name), mapKeys(parts)) + arraySum(value -> length(value), mapValues(parts))';
  // In one statement, because another one could see other records.
  const rows = await columns.query<{ key: string; bytes: string; n: string; looked: string; total: string }>(
    `SELECT name AS key, toString(sum(length(name) + length(value))) AS bytes, toString(count()) AS n,
      toString(any(looked)) AS looked, toString(any(total)) AS total
    FROM (SELECT parts, count() OVER () AS looked, sum(own + ${lengths}) OVER () AS total FROM (${sample}))
    ARRAY JOIN mapKeys(parts) AS name, mapValues(parts) AS value
    GROUP BY name ORDER BY sum(length(name) + length(value)) DESC, name LIMIT ${maxAttributes}`,
    buildRangeParameters(range),
  );
  const sampleSize = Number(rows[0]?.looked ?? 0);
  const totalBytes = Math.max(1, Number(rows[0]?.total ?? 0));
  return {
    sampleSize,
    costs: rows.map(({ key, bytes, n }) => ({
      key,
      share: Number(bytes) / totalBytes,
      recordShare: Number(n) / sampleSize,
    })),
  };
};
