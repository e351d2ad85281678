/** Identifies the host of a series, resource or label set */
import type { Attributes } from '../../queries/attributes.ts';
import type { Cell } from './cells.ts';

/** Identity of a host: its id, otherwise its name */
export interface HostIdentity {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

const toText = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value);

/** Removes the port: `10.0.0.7:9100` → `10.0.0.7`; `[::1]:9100` → `::1`. */
const removePort = (instance: string): string => {
  const match = /^\[(.+)\](?::\d+)?$/.exec(instance) ?? /^([^:]+):\d+$/.exec(instance);
  return match?.[1] ?? instance;
};

/**
 * Returns the identity by `host.id`, `host.name` or the node's name. For scraped metrics, uses the name that
 * node_exporter reports for the instance, otherwise the instance.
 */
export const identifyHost = (
  resource: Attributes,
  labels: Readonly<Record<string, string>>,
  nodeNames: ReadonlyMap<string, string>,
): HostIdentity => {
  const id = toText(resource['host.id']);
  const name = toText(resource['host.name']) ?? toText(resource['k8s.node.name']);
  if (id !== undefined || name !== undefined) return { id, name };
  const instance = getScrapedInstance(resource, labels);
  const address = instance === undefined ? undefined : removePort(instance);
  const nodeName = lookUpNodeName(nodeNames, instance) ?? lookUpNodeName(nodeNames, address);
  const scrapedName = labels['nodename'] ?? nodeName ?? address;
  return { id: undefined, name: scrapedName };
};

const lookUpNodeName = (nodeNames: ReadonlyMap<string, string>, address: string | undefined): string | undefined =>
  address === undefined ? undefined : nodeNames.get(address);

/** Returns the scraped address of a series. */
const getScrapedInstance = (resource: Attributes, labels: Readonly<Record<string, string>>): string | undefined =>
  toText(labels['instance']) ?? toText(resource['service.instance.id']);

/** Returns the host names that node_exporter reports for addresses. */
export const collectNodeNames = (
  cells: readonly Pick<Cell, 'metric' | 'resource' | 'labels'>[],
): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const { metric, resource, labels } of cells) {
    const instance = metric === 'node_uname_info' ? getScrapedInstance(resource, labels) : undefined;
    if (instance === undefined || labels['nodename'] === undefined) continue;
    names.set(instance, labels['nodename']);
    // Other targets at the same address are on the same host.
    names.set(removePort(instance), labels['nodename']);
  }
  return names;
};

/** Name for host series whose sender sets no host name */
export const unnamedHost = 'unnamed';

/**
 * Returns the key of each host. A name alone maps to the host with an id and that name if exactly one exists; hosts
 * with equal names in two networks remain separate.
 */
export const createHostKeys = (identities: Iterable<HostIdentity>): ((identity: HostIdentity) => string) => {
  const idsByName = new Map<string, Set<string>>();
  for (const { id, name } of identities) {
    if (id === undefined || name === undefined) continue;
    const ids = idsByName.get(name) ?? new Set();
    idsByName.set(name, ids.add(id));
  }
  return ({ id, name }) => {
    if (id !== undefined) return id;
    if (name === undefined) return unnamedHost;
    const ids = idsByName.get(name);
    const [singleId] = ids ?? [];
    return ids?.size === 1 && singleId !== undefined ? singleId : name;
  };
};
