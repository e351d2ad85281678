/** Requests that an eBPF agent and another instrumentation report */
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { Sender } from './senders.ts';

/** Spans of this period before the end of the range are compared. Nanoseconds. */
const comparedNs = 900_000_000_000n;

interface Row {
  readonly name: string;
  readonly both: string;
  readonly ebpf: string;
}

/**
 * Returns the share of the server spans of eBPF agents that another instrumentation reports too, for services with both:
 * spans of one name that start in the same second count as one request.
 */
export const readDuplicatedShares = async (
  { columns }: TenantReader,
  range: Range,
  scope: ProjectScope,
  sendersByService: ReadonlyMap<string, readonly Sender[]>,
): Promise<ReadonlyMap<string, number>> => {
  const isEbpf = ({ instrumentation }: Sender): boolean => instrumentation?.kind === 'ebpf';
  const services = [...sendersByService].filter(
    ([, senders]) =>
      senders.some(isEbpf) &&
      senders.some((sender) => sender.instrumentation !== undefined && !isEbpf(sender) && sender.spans > 0),
  );
  if (services.length === 0) return new Map();
  const resources = services.flatMap(([, senders]) => senders.filter(isEbpf).map(({ resourceId }) => resourceId));
  const from = range.from < range.to - comparedNs ? range.to - comparedNs : range.from;
  const rows = await columns.query<Row>(
    `SELECT service AS name, toString(sum(least(ebpf_spans, other_spans))) AS both, toString(sum(ebpf_spans)) AS ebpf FROM (
      SELECT service, name AS span_name, toUnixTimestamp(timestamp) AS second,
        countIf(has({resources:Array(String)}, toString(resource_id))) AS ebpf_spans, count() - ebpf_spans AS other_spans
      FROM spans WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND kind = 2
        AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')${buildProjectScopeCondition(scope)}
      GROUP BY service, span_name, second)
    GROUP BY service`,
    {
      from: String(from),
      to: String(range.to),
      resources,
      services: services.map(([name]) => name),
      ...toProjectScopeParameters(scope),
    },
  );
  return new Map(
    rows.filter(({ ebpf }) => ebpf !== '0').map(({ name, both, ebpf }) => [name, Number(both) / Number(ebpf)]),
  );
};
