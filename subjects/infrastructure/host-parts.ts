/** Groups cells and activity traces by host, across senders */
import type { Cell } from './cells.ts';
import { type HostIdentity, hostIdentityOf, hostKeys, nodeNamesOf } from './host-identity.ts';
import type { HostTrace } from './host-signs.ts';

/** Data found for one host */
export interface HostData {
  readonly identity: HostIdentity;
  readonly traces: HostTrace[];
  readonly cells: Map<string, Cell[]>;
}

/** Groups hosts by key. */
export const groupedByHost = (cells: readonly Cell[], traces: readonly HostTrace[] = []): Map<string, HostData> => {
  const names = nodeNamesOf([...cells, ...traces.map((trace) => ({ ...trace, metric: 'node_uname_info' }))]);
  const identified = cells.map((cell) => ({ cell, identity: hostIdentityOf(cell.resource, cell.labels, names) }));
  const seen = traces.map((trace) => ({ trace, identity: hostIdentityOf(trace.resource, trace.labels, names) }));
  const keyOf = hostKeys([...identified, ...seen].map(({ identity }) => identity));
  const hosts = new Map<string, HostData>();
  const hostAt = (identity: HostIdentity): HostData => {
    const key = keyOf(identity);
    const host = hosts.get(key) ?? { identity, traces: [], cells: new Map() };
    // An identity with a name is preferred.
    const better = host.identity.name === undefined && identity.name !== undefined ? { ...host, identity } : host;
    hosts.set(key, better);
    return better;
  };
  for (const { cell, identity } of identified) {
    const host = hostAt(identity);
    const own = host.cells.get(cell.metric);
    if (own === undefined) host.cells.set(cell.metric, [cell]);
    else own.push(cell);
  }
  for (const { trace, identity } of seen) hostAt(identity).traces.push(trace);
  return hosts;
};
