/** Which host a series, resource or label set speaks of. */
import type { Attributes } from '../../queries/attributes.ts';
import type { Cell } from './cells.ts';

/** A host is known by its id, else by its name. */
export interface HostIdentity {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value);

/** `10.0.0.7:9100` → `10.0.0.7`; `[::1]:9100` → `::1`. */
const withoutPort = (instance: string): string => {
  const match = /^\[(.+)\](?::\d+)?$/.exec(instance) ?? /^([^:]+):\d+$/.exec(instance);
  return match?.[1] ?? instance;
};

/** By `host.id`, `host.name`, the node's name, or, of scraped metrics, the name that node_exporter told for the instance, else the instance. */
export const hostIdentityOf = (
  resource: Attributes,
  labels: Readonly<Record<string, string>>,
  nodeNames: ReadonlyMap<string, string>,
): HostIdentity => {
  const id = textOf(resource['host.id']);
  const name = textOf(resource['host.name']) ?? textOf(resource['k8s.node.name']);
  if (id !== undefined || name !== undefined) return { id, name };
  const instance = instanceOf(resource, labels);
  const address = instance === undefined ? undefined : withoutPort(instance);
  const nodeName = names(nodeNames, instance) ?? names(nodeNames, address);
  const scraped = labels['nodename'] ?? nodeName ?? address;
  return { id: undefined, name: scraped };
};

const names = (nodeNames: ReadonlyMap<string, string>, address: string | undefined): string | undefined =>
  address === undefined ? undefined : nodeNames.get(address);

/** The scraped address of a series. */
const instanceOf = (resource: Attributes, labels: Readonly<Record<string, string>>): string | undefined =>
  textOf(labels['instance']) ?? textOf(resource['service.instance.id']);

/** Names that node_exporter tells for addresses. */
export const nodeNamesOf = (
  cells: readonly Pick<Cell, 'metric' | 'resource' | 'labels'>[],
): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const { metric, resource, labels } of cells) {
    const instance = metric === 'node_uname_info' ? instanceOf(resource, labels) : undefined;
    if (instance === undefined || labels['nodename'] === undefined) continue;
    names.set(instance, labels['nodename']);
    // What else is scraped at the address is on that host.
    names.set(withoutPort(instance), labels['nodename']);
  }
  return names;
};

/** For series of hosts whose sender names none. */
export const unnamedHost = 'unnamed';

/**
 * The key of each host. A name alone stands for the host with an id and that name, as long as there is one of them: two hosts of one name in two
 * networks stay apart.
 */
export const hostKeys = (identities: Iterable<HostIdentity>): ((identity: HostIdentity) => string) => {
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
    const [only] = ids ?? [];
    return ids?.size === 1 && only !== undefined ? only : name;
  };
};
