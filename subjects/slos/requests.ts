/**
 * Counts the requests of a service per slice, for the short form of an SLO. SLOs that are measured at the same time
 * share one statement.
 */

import type { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { getNearestBucket } from '../../schemas/tables/durations.ts';
import { requestKinds } from '../../schemas/tables/span-metrics.ts';
import { batchQuery } from './batch-query.ts';
import type { SloFields } from './document.ts';
import type { Window } from './slices/windows.ts';

type SliceCounts = readonly (readonly [beginMs: number, good: number, total: number])[];

/** Counted requests of a service: shorter than a duration, by duration buckets, or without an error */
interface CountedService {
  readonly service: string;
  readonly bound?: number | undefined;
}

const toMemberKey = ({ service, bound }: CountedService): string => `${bound ?? ''} ${service}`;
const parseMemberKey = (key: string): CountedService => {
  const separatorIndex = key.indexOf(' ');
  return {
    service: key.slice(separatorIndex + 1),
    bound: separatorIndex === 0 ? undefined : Number(key.slice(0, separatorIndex)),
  };
};

interface SliceRow {
  readonly service: string;
  readonly begin: string;
  readonly total: string;
  /** Good requests by bound, in the order of the bounds */
  readonly good: readonly string[];
}

/**
 * SQL of fast requests. Durations are stored in buckets, so the bound is the closest bucket bound. Counts successful
 * requests below each bound.
 */
const fastRequestsSql = `arrayMap(bound -> toString(arraySum(mapValues(mapFilter((bucket, spans) -> bucket < bound, sumMap(duration_buckets))))
  - arraySum(mapValues(mapFilter((bucket, spans) -> bucket < bound, sumMap(error_buckets))))), {bounds:Array(UInt16)})`;

const readCounts = async (
  { columns }: Pick<TenantReader, 'columns'>,
  members: readonly CountedService[],
  { fromMs, toMs, sliceMs }: Window & { readonly sliceMs: number },
): Promise<ReadonlyMap<string, SliceCounts>> => {
  const bounds = [...new Set(members.flatMap(({ bound }) => bound ?? []))];
  const rows = await columns.query<SliceRow>(
    `SELECT service, toString(intDiv(toUnixTimestamp(minute), {slice:UInt32}) * {slice:UInt32}) AS begin,
      toString(sum(requests)) AS total, ${bounds.length === 0 ? '[toString(sum(requests) - sum(errors))]' : fastRequestsSql} AS good
    FROM span_metrics
    WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND kind IN (${requestKinds.join(', ')})
      AND toStartOfHour(minute) >= toStartOfHour(toDateTime({from:UInt32}, 'UTC'))
      AND minute >= toDateTime({from:UInt32}, 'UTC') AND minute < toDateTime({to:UInt32}, 'UTC')
    GROUP BY service, begin`,
    {
      services: [...new Set(members.map(({ service }) => service))],
      slice: sliceMs / 1000,
      from: fromMs / 1000,
      to: toMs / 1000,
      ...(bounds.length > 0 && { bounds }),
    },
    { maxResultRows: 2_000_000 },
  );
  const byService = Map.groupBy(rows, ({ service }) => service);
  return new Map(
    members.map((member) => {
      const boundIndex = member.bound === undefined ? 0 : bounds.indexOf(member.bound);
      const counts = (byService.get(member.service) ?? [])
        .filter(({ total }) => total !== '0')
        .map(({ begin, good, total }) => [Number(begin) * 1000, Number(good[boundIndex]), Number(total)] as const);
      return [toMemberKey(member), counts] as const;
    }),
  );
};

/** Returns good and total requests of an SLO's service. */
export const countRequests = async (
  { type, service, latencyThresholdMs }: Pick<SloFields, 'type' | 'service' | 'latencyThresholdMs'>,
  window: Window,
  {
    reader,
    batcher,
    sliceMs,
  }: {
    readonly reader: TenantReader;
    readonly batcher: QueryBatcher;
    readonly sliceMs: number;
  },
): Promise<SliceCounts> => {
  const bound = type === 'latency' ? getNearestBucket((latencyThresholdMs ?? 0) * 1e6) : undefined;
  const member = toMemberKey({ service, bound });
  // Durations are the most expensive to sum, so only members that need them are queried with them.
  const key = `requests ${bound === undefined ? 'by status' : 'by duration'} ${JSON.stringify({ ...window, sliceMs })}`;
  const counts = await batchQuery(batcher, { key, member }, (members) =>
    readCounts(reader, members.map(parseMemberKey), { ...window, sliceMs }),
  );
  return counts.get(member) ?? [];
};
