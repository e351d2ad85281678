/**
 * Flows from records that routers and switches export (NetFlow, sFlow, IPFIX), as the collector's netflow receiver
 * writes them to logs
 */

import { type Range, requireRetained } from '../../queries/range.ts';
import { buildRangeParameters } from '../../queries/records.ts';
import type { Incompleteness } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { toKnownNumber } from '../../queries/unknown-numbers.ts';
import { buildFirstAttributeSql } from '../../schemas/tables/literal.ts';
import { type ResourcesByAddress, readAddresses } from './addresses.ts';
import { createFlowEnd, type Flow, type FlowEnd, type FlowQuery, type FlowView } from './flow.ts';

interface Row {
  readonly source: string;
  readonly destination: string;
  readonly port: number;
  readonly transport: string;
  readonly all_bytes: number;
  readonly all_packets: number;
}

const maxFlows = 10_000;

const buildNumberExpression = (keys: readonly string[]): string => `toFloat64OrZero(${buildFirstAttributeSql(keys)})`;
const samplingRateExpression = `greatest(1, ${buildNumberExpression(['network.flow.sampling_rate', 'flow.sampling_rate'])})`;

/**
 * Returns the SQL for flows. A flow that several exporters observed is counted once, as reported by the exporter with
 * the largest count: first per connection, then per requested grouping. Sampled counts are multiplied by the sampling
 * rate.
 */
const buildStatement = (
  isProject: boolean,
): string => `SELECT source, destination, port, transport, sum(bytes) AS all_bytes, sum(packets) AS all_packets
  FROM (SELECT source, destination, source_port, port, transport, max(bytes_seen) AS bytes, max(packets_seen) AS packets
    FROM (SELECT ${buildFirstAttributeSql(['source.address'])} AS source, ${buildFirstAttributeSql(['destination.address'])} AS destination,
        ${buildFirstAttributeSql(['source.port'])} AS source_port, toUInt32OrZero(${buildFirstAttributeSql(['destination.port'])}) AS port, lower(${buildFirstAttributeSql(['network.transport'])}) AS transport,
        ${buildFirstAttributeSql(['network.flow.sampler_address', 'flow.sampler_address'])} AS sampler,
        sum(${buildNumberExpression(['network.io.bytes', 'flow.io.bytes'])} * ${samplingRateExpression}) AS bytes_seen, sum(${buildNumberExpression(['network.io.packets', 'flow.io.packets'])} * ${samplingRateExpression}) AS packets_seen
      FROM logs WHERE tenant_id = {tenant:String} AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
        AND (mapContains(attributes, 'network.flow.type') OR mapContains(attributes, 'flow.type'))${isProject ? ' AND project_id = {project:String}' : ''}
      GROUP BY source, destination, source_port, port, transport, sampler)
    GROUP BY source, destination, source_port, port, transport)
  GROUP BY source, destination, port, transport ORDER BY all_bytes DESC, source, destination, port, transport LIMIT ${maxFlows + 1}`;

export const readExportedFlows = async (
  reader: TenantReader,
  { view, projectId }: FlowQuery,
  range: Range,
): Promise<{ flows: Flow[]; partial: Incompleteness[] }> => {
  requireRetained(range, { caller: reader, signal: 'logs', nowMs: reader.nowMs });
  const rows = await reader.columns.query<Row>(buildStatement(projectId !== undefined), {
    ...buildRangeParameters(range),
    ...(projectId === undefined ? {} : { project: projectId }),
  });
  const resourcesByAddress: ResourcesByAddress =
    view === 'address' || rows.length === 0 ? new Map() : await readAddresses(reader);
  const seconds = Number(range.to - range.from + 1n) / 1e9;
  return {
    flows: mergeFlows(rows.slice(0, maxFlows), view, resourcesByAddress, seconds),
    partial:
      rows.length > maxFlows
        ? [
            {
              code: 'rows',
              message: `more than ${maxFlows} pairs of addresses were exported: these are the pairs with the most bytes`,
            },
          ]
        : [],
  };
};

const toFlowEnd = (address: string, view: FlowView, resourcesByAddress: ResourcesByAddress): FlowEnd => {
  const name = view === 'address' ? address : resourcesByAddress.get(address)?.[view];
  return name === undefined || name === '' ? createFlowEnd('address', address) : createFlowEnd(view, name);
};

/** Returns the flows of the view; several addresses of one endpoint are merged. */
const mergeFlows = (
  rows: readonly Row[],
  view: FlowView,
  resourcesByAddress: ResourcesByAddress,
  seconds: number,
): Flow[] => {
  const flowsByKey = new Map<string, Flow>();
  for (const row of rows) {
    const source = toFlowEnd(row.source, view, resourcesByAddress);
    const destination = toFlowEnd(row.destination, view, resourcesByAddress);
    const isAddress = view === 'address';
    const key = JSON.stringify([source.id, destination.id, ...(isAddress ? [row.transport, row.port] : [])]);
    const existing = flowsByKey.get(key);
    const bytes = (existing?.bytes ?? 0) + row.all_bytes;
    flowsByKey.set(key, {
      source,
      destination,
      bytes,
      bytesPerSecond: bytes / seconds,
      seenBy: 'exporter',
      transport: isAddress ? row.transport : '',
      destinationPort: isAddress ? row.port : null,
      packets: toKnownNumber((existing?.packets.value ?? 0) + row.all_packets),
      isCountedOnce: { value: true, reason: null },
    });
  }
  return [...flowsByKey.values()];
};
