/** Most frequent values of one field or attribute. */
import { z } from 'zod';
import { type Range, requireRetained } from '../range.ts';
import { buildRangeCondition, buildRangeParameters, buildRecordsCondition, type Condition } from '../records.ts';
import type { Incompleteness } from '../result.ts';
import { getSignalRecords, type SearchSignal } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { formatTime } from '../time.ts';
import { ValueReader } from '../values.ts';
import { countRecords, toOverlappingHours } from './catalogue.ts';

/** Maximum number of newest records to read, which takes a fraction of a second. */
const maxRecords = 2_000_000;
const maxShownCharacters = 1_024;

export const FieldValue = z.strictObject({
  value: z.string().describe('Value as text, truncated to 1,024 characters'),
  isTruncated: z.boolean(),
  records: z.int(),
  share: z.number().describe('Share of the records with the field, 0 to 1'),
});

export interface FieldValuesQuery {
  readonly signal: SearchSignal;
  /** Name as in searches. */
  readonly name: string;
  readonly range: Range;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
  /** Only values that start with this text. */
  readonly prefix?: string | undefined;
  readonly limit: number;
}

export interface TopValues {
  /** Range that was read: shorter than requested if there was too much data. */
  readonly readRange: Range;
  /** Number of records in `readRange` that match the search; `withField` counts those that also have the field. */
  readonly records: number;
  readonly withField: number;
  readonly distinct: number;
  readonly values: readonly z.output<typeof FieldValue>[];
  readonly partial: readonly Incompleteness[];
}

interface Row {
  readonly value: string;
  readonly size: string;
  readonly n: string;
  readonly with_field: string;
  readonly distinct_values: string;
}

/** Returns values, those with the most records first. Values of different types with one text count as one value. */
export const readTopValues = async (reader: TenantReader, query: FieldValuesQuery): Promise<TopValues> => {
  const { signal, name, range, prefix, limit } = query;
  requireRetained(range, { caller: reader, signal, nowMs: reader.nowMs });
  const condition = buildRecordsCondition(query);
  const scannedRange = await limitRange(reader, query, condition);
  const values = new ValueReader(signal);
  const { exists, text } = values.getEachValue(name);
  const source = values.buildSource(condition.sql);
  // A value that is not empty exists; the slower key lookup runs only for empty values.
  const conditions = [
    `(${text} != '' OR ${exists})`,
    ...(prefix === undefined ? [] : [`startsWith(${text}, {prefix:String})`]),
  ];
  const parameters = {
    ...condition.parameters,
    ...buildRangeParameters(scannedRange.range),
    ...(prefix === undefined ? {} : { prefix }),
  };
  const [rows, records] = await Promise.all([
    reader.columns.query<Row>(
      `SELECT substringUTF8(shown, 1, ${maxShownCharacters}) AS value, toString(lengthUTF8(shown)) AS size, toString(count_of) AS n,
        toString(sum(count_of) OVER ()) AS with_field, toString(count() OVER ()) AS distinct_values
      FROM (SELECT ${text} AS shown, count() AS count_of FROM ${source} WHERE ${conditions.join(' AND ')} GROUP BY shown)
      ORDER BY count_of DESC, shown LIMIT ${limit}`,
      parameters,
      { maxResultRows: limit },
    ),
    countMatchingRecords(reader, query.signal, scannedRange.range, condition),
  ]);
  const [first] = rows;
  const withField = Number(first?.with_field ?? 0);
  return {
    readRange: scannedRange.range,
    records,
    withField,
    distinct: Number(first?.distinct_values ?? 0),
    values: rows.map(({ value, size, n }) => ({
      value,
      isTruncated: Number(size) > maxShownCharacters,
      records: Number(n),
      share: Number(n) / withField,
    })),
    partial: scannedRange.partial,
  };
};

const countMatchingRecords = async (
  reader: TenantReader,
  signal: SearchSignal,
  range: Range,
  { sql, parameters }: Condition,
): Promise<number> => {
  const { table } = getSignalRecords(signal);
  const rows = await reader.columns.query<{ n: string }>(
    `SELECT toString(count()) AS n FROM ${table} WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(signal)} AND ${sql}`,
    { ...parameters, ...buildRangeParameters(range) },
    { runsOnEachServer: true },
  );
  return rows.reduce((sum, { n }) => sum + Number(n), 0);
};

/** Returns the newest part of a range that has at most about `maxRecords` records. */
const limitRange = async (
  reader: TenantReader,
  { signal, projectId, range }: FieldValuesQuery,
  condition: Condition,
): Promise<{ readonly range: Range; readonly partial: readonly Incompleteness[] }> => {
  const requestedRange = { range, partial: [] };
  const { records } = await countRecords(reader, { signal, projectId }, toOverlappingHours(range));
  if (records <= maxRecords) return requestedRange;
  const matchingCount = await countMatchingRecords(reader, signal, range, condition);
  if (matchingCount <= maxRecords) return requestedRange;
  const length = range.to - range.from;
  const source = range.to - (length * BigInt(maxRecords)) / BigInt(matchingCount);
  return {
    range: { from: source, to: range.to },
    partial: [
      {
        code: 'rows',
        message: `values are those of the newest records, from ${formatTime(source)} on: the range has ${matchingCount} records, about ${maxRecords} are read`,
      },
    ],
  };
};
