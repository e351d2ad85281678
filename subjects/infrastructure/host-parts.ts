/** Groups cells and signs of activity by host, across senders. */
import type { Cell } from './cells.ts';
import type { HostActivity } from './host-activity.ts';
import { collectNodeNames, createHostKeys, type HostIdentity, identifyHost } from './host-identity.ts';

/** Data found for one host */
export interface HostData {
  readonly identity: HostIdentity;
  readonly traces: HostActivity[];
  readonly cells: Map<string, Cell[]>;
}

/** Groups hosts by key. */
export const groupByHost = (cells: readonly Cell[], traces: readonly HostActivity[] = []): Map<string, HostData> => {
  const nodeNames = collectNodeNames([...cells, ...traces.map((trace) => ({ ...trace, metric: 'node_uname_info' }))]);
  const identifiedCells = cells.map((cell) => ({
    cell,
    identity: identifyHost(cell.resource, cell.labels, nodeNames),
  }));
  const identifiedTraces = traces.map((trace) => ({
    trace,
    identity: identifyHost(trace.resource, trace.labels, nodeNames),
  }));
  const getHostKey = createHostKeys([...identifiedCells, ...identifiedTraces].map(({ identity }) => identity));
  const hosts = new Map<string, HostData>();
  const getHost = (identity: HostIdentity): HostData => {
    const key = getHostKey(identity);
    const host = hosts.get(key) ?? { identity, traces: [], cells: new Map() };
    // An identity with a name is preferred.
    const hostWithName = host.identity.name === undefined && identity.name !== undefined ? { ...host, identity } : host;
    hosts.set(key, hostWithName);
    return hostWithName;
  };
  for (const { cell, identity } of identifiedCells) {
    const host = getHost(identity);
    const metricCells = host.cells.get(cell.metric);
    if (metricCells === undefined) host.cells.set(cell.metric, [cell]);
    else metricCells.push(cell);
  }
  for (const { trace, identity } of identifiedTraces) getHost(identity).traces.push(trace);
  return hosts;
};
