/**
 * Flows of a range from observers of traffic: eBPF agents and routers. Traffic that several observers saw counts once
 * (README).
 */
import type { Range } from '../../queries/range.ts';
import type { Incompleteness } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { readExportedFlows } from './exported-flows.ts';
import type { Flow, FlowQuery } from './flow.ts';
import { readMetricFlows } from './metric-flows.ts';

export interface Flows {
  /** Flows by bytes, in descending order */
  readonly flows: readonly Flow[];
  readonly partial: readonly Incompleteness[];
  /** Why there are no flows; `null` if there are some */
  readonly reason: string | null;
}

/** Returns a stable sort key for flows with equal bytes. */
export const toFlowKey = ({ source, destination, transport, destinationPort, seenBy }: Flow): string =>
  JSON.stringify([source.id, destination.id, transport, destinationPort, seenBy]);

/** Returns all flows of a range from both sources. */
export const readFlows = async (reader: TenantReader, query: FlowQuery, range: Range): Promise<Flows> => {
  const { entitlements } = reader.plan;
  const [metrics, exported] = await Promise.all([
    entitlements.includes('metrics') ? readMetricFlows(reader, query, range) : undefined,
    entitlements.includes('logs') ? readExportedFlows(reader, query, range) : undefined,
  ]);
  const flows = [...(metrics?.flows ?? []), ...(exported?.flows ?? [])].sort(
    (left, right) => right.bytes - left.bytes || (toFlowKey(left) < toFlowKey(right) ? -1 : 1),
  );
  return {
    flows,
    partial: [...(metrics?.partial ?? []), ...(exported?.partial ?? [])],
    reason: flows.length > 0 ? null : describeNoFlows(entitlements),
  };
};

const describeNoFlows = (entitlements: readonly string[]): string => {
  const missing = ['metrics', 'logs'].filter((signal) => !entitlements.includes(signal));
  return missing.length === 2
    ? 'The plan includes neither metrics nor logs, which are the sources of flows.'
    : `No flows were received in this range. OBI and Beyla send them as obi.network.flow.bytes, the collector's netflow receiver as log records.${missing.length === 1 ? ` The plan does not include ${missing[0]}.` : ''}`;
};
