/** The short form: requests of a service by slice. Those of one moment are counted with one statement. */
import type { Reading } from '../../queries/reading.ts';
import type { Window } from '../../queries/slos/windows.ts';
import type { Answers } from '../../queries/together/answers.ts';
import { nearestBucket } from '../../schemas/tables/durations.ts';
import { requestKinds } from '../../schemas/tables/span-metrics.ts';
import type { SloFields } from './document.ts';

/** Objectives that are due together ask within one look at what is due. */
const gatherMs = 20;

type Counts = readonly (readonly [beginMs: number, good: number, total: number])[];

interface Gathered {
  readonly services: Set<string>;
  readonly counts: Promise<ReadonlyMap<string, Counts>>;
}

const gathering = new WeakMap<Answers, Map<string, Gathered>>();

interface Row {
  readonly service: string;
  readonly begin: string;
  readonly total: string;
  readonly good: string;
}

/** Shorter than a duration, and without an error: durations are kept in buckets, and the bound is the one next to it. */
const fastSql = `arraySum(mapValues(mapFilter((bucket, spans) -> bucket < {bound:UInt16}, sumMap(duration_buckets))))
  - arraySum(mapValues(mapFilter((bucket, spans) -> bucket < {bound:UInt16}, sumMap(error_buckets))))`;

const read = async (
  { columns }: Pick<Reading, 'columns'>,
  services: readonly string[],
  { fromMs, toMs, sliceMs, bound }: Window & { readonly sliceMs: number; readonly bound: number | undefined },
): Promise<ReadonlyMap<string, Counts>> => {
  const rows = await columns.query<Row>(
    `SELECT service, toString(intDiv(toUnixTimestamp(minute), {slice:UInt32}) * {slice:UInt32}) AS begin,
      toString(sum(requests)) AS total, toString(${bound === undefined ? 'sum(requests) - sum(errors)' : fastSql}) AS good
    FROM span_metrics
    WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND kind IN (${requestKinds.join(', ')})
      AND toStartOfHour(minute) >= toStartOfHour(toDateTime({from:UInt32}, 'UTC'))
      AND minute >= toDateTime({from:UInt32}, 'UTC') AND minute < toDateTime({to:UInt32}, 'UTC')
    GROUP BY service, begin`,
    {
      ...{ services: [...services], slice: sliceMs / 1000, from: fromMs / 1000, to: toMs / 1000 },
      ...(bound !== undefined && { bound }),
    },
    { maxResultRows: 1_000_000 },
  );
  const byService = new Map<string, [number, number, number][]>();
  for (const { service, begin, good, total } of rows) {
    const own = byService.get(service) ?? [];
    byService.set(service, own);
    if (total !== '0') own.push([Number(begin) * 1000, Number(good), Number(total)]);
  }
  return byService;
};

/** Good and all requests of an objective's service. */
export const countRequests = async (
  { type, service, latencyThresholdMs }: Pick<SloFields, 'type' | 'service' | 'latencyThresholdMs'>,
  window: Window,
  {
    reading,
    answers,
    sliceMs,
  }: {
    readonly reading: Reading;
    readonly answers: Answers;
    readonly sliceMs: number;
  },
): Promise<Counts> => {
  const bound = type === 'latency' ? nearestBucket((latencyThresholdMs ?? 0) * 1e6) : undefined;
  const asked = { ...window, sliceMs, bound };
  const key = JSON.stringify(asked);
  const own = gathering.get(answers) ?? new Map<string, Gathered>();
  gathering.set(answers, own);
  const known = own.get(key);
  known?.services.add(service);
  if (known !== undefined) return (await known.counts).get(service) ?? [];
  const services = new Set([service]);
  const counts = (async () => {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    return answers.turn(() => {
      // Those who ask from now on are not among its services.
      own.delete(key);
      return read(reading, [...services], asked);
    });
  })();
  own.set(key, { services, counts });
  return (await counts).get(service) ?? [];
};
