/** Reads exemplars: single representative measurements, most of which have a trace. */
import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { Attributes, decodeAttributes } from '../attributes.ts';
import type { Range } from '../range.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { formatTime } from '../time.ts';
import {
  buildPointCondition,
  buildPointOrder,
  groupBySeries,
  type PointQuery,
  parseNumberOrText,
  toPointParameters,
  Value,
} from './points.ts';
import { selectSeries } from './selection.ts';

/** A single representative measurement. */
export const Exemplar = z.strictObject({
  timestamp: z.string(),
  value: Value,
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
  attributes: Attributes,
});
type Exemplar = z.output<typeof Exemplar>;

interface Row {
  readonly id: string;
  readonly time: string;
  readonly value: string;
  readonly trace: string;
  readonly span: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
}

const exemplarColumns = `toString(series_id) AS id, toString(toUnixTimestamp64Nano(timestamp)) AS time, toString(exemplars.value) AS value,
  lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span, mapKeys(attributes) AS keys, mapValues(attributes) AS values, attribute_types AS types`;

/** Returns exemplars by the ids of their series, newest first. */
export const readExemplars = async (columns: TenantColumns, query: PointQuery): Promise<Map<string, Exemplar[]>> => {
  if (query.ids.length === 0) return new Map();
  const rows = await columns.query<Row>(
    `SELECT ${exemplarColumns} FROM exemplars WHERE ${buildPointCondition(query)} ${buildPointOrder(query)}`,
    toPointParameters(query),
  );
  return new Map([...groupBySeries(rows)].map(([id, seriesRows]) => [id, seriesRows.map(toExemplar)]));
};

const toNullIfZero = (hex: string): string | null => (/^0*$/.test(hex) ? null : hex);

const toExemplar = (row: Row): Exemplar => ({
  timestamp: formatTime(BigInt(row.time)),
  value: parseNumberOrText(row.value),
  traceId: toNullIfZero(row.trace),
  spanId: toNullIfZero(row.span),
  attributes: decodeAttributes(row.keys, row.values, row.types),
});

/** An exemplar with the labels of its series. */
export const SeriesExemplar = z.strictObject({
  seriesId: z.string(),
  labels: z
    .record(z.string(), z.string())
    .describe('All labels of the series; resource attributes have the prefix `resource.`'),
  ...Exemplar.shape,
});

/** Position of an exemplar in the list; positions are unique. */
export interface ExemplarPosition {
  readonly time: string;
  readonly id: string;
  readonly hash: string;
}

export interface ExemplarQuery {
  readonly metric: string;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
  readonly range: Range;
  readonly limit: number;
  readonly after?: ExemplarPosition | undefined;
}

/** Returns exemplars of a metric in a range, newest first, and the position of the last one if there are more. */
export const listMetricExemplars = async (
  reader: Pick<TenantReader, 'columns'>,
  { metric, search, projectId, range, limit, after }: ExemplarQuery,
): Promise<{
  readonly items: z.output<typeof SeriesExemplar>[];
  readonly nextPosition: ExemplarPosition | undefined;
  readonly hasOmittedSeries: boolean;
}> => {
  const { series, hasOmittedSeries } = await selectSeries(reader, {
    metrics: [metric],
    search,
    projectId,
    range,
    groupBy: 'every',
  });
  if (series.length === 0) return { items: [], nextPosition: undefined, hasOmittedSeries };
  const hash = 'cityHash64(partition, offset, exemplars.value, trace_id, span_id, toString(attributes))';
  const rows = await reader.columns.query<Row & { readonly hash: string }>(
    `SELECT ${exemplarColumns}, toString(${hash}) AS hash FROM exemplars
    WHERE ${buildPointCondition({ ids: series.map(({ id }) => id) })}${
      after === undefined
        ? ''
        : ' AND (toUnixTimestamp64Nano(timestamp), series_id, '.concat(
            hash,
            ') < ({time:Int64}, {id:UInt64}, {hash:UInt64})',
          )
    }
    ORDER BY timestamp DESC, series_id DESC, ${hash} DESC LIMIT 1 BY timestamp, series_id, ${hash} LIMIT ${limit + 1}`,
    { ...toPointParameters({ metric, range }), ...after },
  );
  const labels = new Map(series.map(({ id, labels }) => [id, labels]));
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  return {
    items: pageRows.map((row) => ({ seriesId: row.id, labels: labels.get(row.id) ?? {}, ...toExemplar(row) })),
    nextPosition:
      rows.length > limit && last !== undefined ? { time: last.time, id: last.id, hash: last.hash } : undefined,
    hasOmittedSeries,
  };
};
