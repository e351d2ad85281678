/** Returns the peer of a client span by its attributes: OpenTelemetry's current conventions and older ones. */
import type { Peer } from '../../schemas/edges.ts';
import type { Span } from '../../schemas/records/span.ts';

/** The part of a span that is read here. */
export type Attributed = Pick<Span, 'attribute'>;

const maxNameLength = 512;
/** Returns a name of bounded length. */
export const clip = (name: string): string => (name.length > maxNameLength ? name.slice(0, maxNameLength) : name);

const first = (span: Attributed, keys: readonly string[]): string => {
  for (const key of keys) {
    const text = span.attribute(key);
    if (text !== undefined && text !== '') return clip(text);
  }
  return '';
};

/** Attribute keys of a host, with those of its port. */
const hosts = [
  ['server.address', 'server.port'],
  ['net.peer.name', 'net.peer.port'],
  ['network.peer.address', 'network.peer.port'],
  ['net.sock.peer.addr', 'net.sock.peer.port'],
  ['net.peer.ip', 'net.peer.port'],
] as const;
/** Ports that are omitted from a host's name. */
const defaultPorts = new Set(['', '80', '443']);

const addressOf = (span: Attributed): string => {
  for (const [key, portKey] of hosts) {
    const host = first(span, [key]);
    if (host === '') continue;
    const port = first(span, [portKey]);
    return defaultPorts.has(port) ? host : clip(`${host.includes(':') ? `[${host}]` : host}:${port}`);
  }
  const url = first(span, ['url.full', 'http.url']);
  return url === '' ? first(span, ['http.host']) : hostOfUrl(url);
};

/** Returns host and port of an absolute URL. `URL` takes ten times as long, and throws. */
const hostOfUrl = (url: string): string =>
  /^[a-z][a-z+.-]*:\/\/(?:[^/?#]*@)?([^/?#]+?)(?::(?:80|443))?(?:[/?#]|$)/i.exec(url)?.[1] ?? '';

/** Returns the database that a client span queried; undefined if it queried none. */
export const databaseOf = (span: Attributed): Peer | undefined => {
  const system = first(span, ['db.system.name', 'db.system']);
  const namespace = first(span, ['db.namespace', 'db.name', 'db.instance']);
  if (system === '' && namespace === '') return undefined;
  const address = addressOf(span);
  // Redis numbers its databases, and a number alone identifies nothing.
  const database = /^\d*$/.test(namespace) ? '' : namespace;
  const name = first(span, ['peer.service']) || database || address || system || namespace;
  return { kind: 'database', name, system, address };
};

export type QueueOperation = 'create' | 'send' | 'receive' | 'process' | 'settle' | '';

const operations: Readonly<Record<string, QueueOperation>> = {
  create: 'create',
  send: 'send',
  publish: 'send',
  receive: 'receive',
  poll: 'receive',
  process: 'process',
  deliver: 'process',
  settle: 'settle',
};

/** Returns the queue operation of a span; empty if the span does not declare one. */
export const queueOperationOf = (span: Attributed): QueueOperation =>
  operations[first(span, ['messaging.operation.type', 'messaging.operation']).toLowerCase()] ?? '';

/**
 * Returns the queue or topic of a span; undefined if it has none. The broker is not part of the name, because the two
 * sides of a queue may know different brokers.
 */
export const queueOf = (span: Attributed): Peer | undefined => {
  const system = first(span, ['messaging.system']);
  const destination = first(span, ['messaging.destination.name', 'messaging.destination']);
  if (system === '' && destination === '') return undefined;
  const template = first(span, ['messaging.destination.template']);
  const isGeneratedName =
    span.attribute('messaging.destination.temporary') === 'true' ||
    span.attribute('messaging.destination.anonymous') === 'true' ||
    span.attribute('messaging.temp_destination') === 'true';
  return {
    kind: 'queue',
    name: template || (isGeneratedName ? '(temporary)' : destination || system),
    system,
    address: '',
  };
};

/** Returns the target of a request without a span of the other side: a service by its name, a host, or undefined. */
export const remoteOf = (span: Attributed): Peer | undefined => {
  const service = first(span, ['peer.service']);
  const address = addressOf(span);
  if (service !== '') return { kind: 'service', name: service, system: '', address };
  return address === '' ? undefined : { kind: 'external', name: address, system: '', address: '' };
};
