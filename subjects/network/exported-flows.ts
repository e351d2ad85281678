/**
 * Flows from records that routers and switches export (NetFlow, sFlow, IPFIX), as the collector's netflow receiver
 * writes them to logs
 */

import { type Range, refuseBeyondRetention } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { rangeValues } from '../../queries/records.ts';
import type { Incompleteness } from '../../queries/result.ts';
import { known } from '../../queries/unknown.ts';
import { firstAttribute } from '../../schemas/tables/literal.ts';
import { type Hosts, readAddresses } from './addresses.ts';
import { endOf, type Flow, type FlowEnd, type FlowQuery, type FlowView } from './flow.ts';

interface Row {
  readonly source: string;
  readonly destination: string;
  readonly port: number;
  readonly transport: string;
  readonly all_bytes: number;
  readonly all_packets: number;
}

const maxFlows = 10_000;

const number = (keys: readonly string[]): string => `toFloat64OrZero(${firstAttribute(keys)})`;
const rate = `greatest(1, ${number(['network.flow.sampling_rate', 'flow.sampling_rate'])})`;

/**
 * A flow that several exporters saw counts as reported by the exporter with the largest count: first per full
 * connection key, then per requested grouping. Counts are those of the sample multiplied by its rate.
 */
const statement = (
  isProject: boolean,
): string => `SELECT source, destination, port, transport, sum(bytes) AS all_bytes, sum(packets) AS all_packets
  FROM (SELECT source, destination, source_port, port, transport, max(bytes_seen) AS bytes, max(packets_seen) AS packets
    FROM (SELECT ${firstAttribute(['source.address'])} AS source, ${firstAttribute(['destination.address'])} AS destination,
        ${firstAttribute(['source.port'])} AS source_port, toUInt32OrZero(${firstAttribute(['destination.port'])}) AS port, lower(${firstAttribute(['network.transport'])}) AS transport,
        ${firstAttribute(['network.flow.sampler_address', 'flow.sampler_address'])} AS sampler,
        sum(${number(['network.io.bytes', 'flow.io.bytes'])} * ${rate}) AS bytes_seen, sum(${number(['network.io.packets', 'flow.io.packets'])} * ${rate}) AS packets_seen
      FROM logs WHERE tenant_id = {tenant:String} AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
        AND (mapContains(attributes, 'network.flow.type') OR mapContains(attributes, 'flow.type'))${isProject ? ' AND project_id = {project:String}' : ''}
      GROUP BY source, destination, source_port, port, transport, sampler)
    GROUP BY source, destination, source_port, port, transport)
  GROUP BY source, destination, port, transport ORDER BY all_bytes DESC, source, destination, port, transport LIMIT ${maxFlows + 1}`;

export const readExportedFlows = async (
  reading: Reading,
  { view, projectId }: FlowQuery,
  range: Range,
): Promise<{ flows: Flow[]; partial: Incompleteness[] }> => {
  refuseBeyondRetention(range, { caller: reading, signal: 'logs', nowMs: reading.nowMs });
  const rows = await reading.columns.query<Row>(statement(projectId !== undefined), {
    ...rangeValues(range),
    ...(projectId === undefined ? {} : { project: projectId }),
  });
  const hosts: Hosts = view === 'address' || rows.length === 0 ? new Map() : await readAddresses(reading);
  const seconds = Number(range.to - range.from + 1n) / 1e9;
  return {
    flows: joined(rows.slice(0, maxFlows), view, hosts, seconds),
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

const ofHost = (address: string, view: FlowView, hosts: Hosts): FlowEnd => {
  const name = view === 'address' ? address : hosts.get(address)?.[view];
  return name === undefined || name === '' ? endOf('address', address) : endOf(view, name);
};

/** Returns the flows of the view; several addresses of one endpoint are merged. */
const joined = (rows: readonly Row[], view: FlowView, hosts: Hosts, seconds: number): Flow[] => {
  const found = new Map<string, Flow>();
  for (const row of rows) {
    const source = ofHost(row.source, view, hosts);
    const destination = ofHost(row.destination, view, hosts);
    const isAddress = view === 'address';
    const key = JSON.stringify([source.id, destination.id, ...(isAddress ? [row.transport, row.port] : [])]);
    const before = found.get(key);
    const bytes = (before?.bytes ?? 0) + row.all_bytes;
    found.set(key, {
      source,
      destination,
      bytes,
      bytesPerSecond: bytes / seconds,
      seenBy: 'exporter',
      transport: isAddress ? row.transport : '',
      destinationPort: isAddress ? row.port : null,
      packets: known((before?.packets.value ?? 0) + row.all_packets),
      isCountedOnce: { value: true, reason: null },
    });
  }
  return [...found.values()];
};
