/** Returns the peer of a client span by its attributes: OpenTelemetry's current conventions and older ones. */
import type { Peer } from '../../schemas/edges.ts';
import type { Span } from '../../schemas/records/span.ts';

/** The part of a span that is read here. */
export type AttributeReader = Pick<Span, 'getAttribute'>;

const maxNameLength = 512;
/** Returns a name of bounded length. */
export const clip = (name: string): string => (name.length > maxNameLength ? name.slice(0, maxNameLength) : name);

const firstAttribute = (span: AttributeReader, keys: readonly string[]): string => {
  for (const key of keys) {
    const text = span.getAttribute(key);
    if (text !== undefined && text !== '') return clip(text);
  }
  return '';
};

/** Attribute keys of a host, with those of its port. */
const hostKeys = [
  ['server.address', 'server.port'],
  ['net.peer.name', 'net.peer.port'],
  ['network.peer.address', 'network.peer.port'],
  ['net.sock.peer.addr', 'net.sock.peer.port'],
  ['net.peer.ip', 'net.peer.port'],
] as const;
/** Ports that are omitted from a host's name. */
const defaultPorts = new Set(['', '80', '443']);

const readAddress = (span: AttributeReader): string => {
  for (const [key, portKey] of hostKeys) {
    const host = firstAttribute(span, [key]);
    if (host === '') continue;
    const port = firstAttribute(span, [portKey]);
    return defaultPorts.has(port) ? host : clip(`${host.includes(':') ? `[${host}]` : host}:${port}`);
  }
  const url = firstAttribute(span, ['url.full', 'http.url']);
  return url === '' ? firstAttribute(span, ['http.host']) : parseUrlHost(url);
};

/** Returns host and port of an absolute URL. `URL` takes ten times as long, and throws. */
const parseUrlHost = (url: string): string =>
  /^[a-z][a-z+.-]*:\/\/(?:[^/?#]*@)?([^/?#]+?)(?::(?:80|443))?(?:[/?#]|$)/i.exec(url)?.[1] ?? '';

/** Returns the database that a client span queried; undefined if it queried none. */
export const readDatabase = (span: AttributeReader): Peer | undefined => {
  const system = firstAttribute(span, ['db.system.name', 'db.system']);
  const namespace = firstAttribute(span, ['db.namespace', 'db.name', 'db.instance']);
  if (system === '' && namespace === '') return undefined;
  const address = readAddress(span);
  // Redis numbers its databases, and a number alone identifies nothing.
  const database = /^\d*$/.test(namespace) ? '' : namespace;
  const name = firstAttribute(span, ['peer.service']) || database || address || system || namespace;
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
export const readQueueOperation = (span: AttributeReader): QueueOperation =>
  operations[firstAttribute(span, ['messaging.operation.type', 'messaging.operation']).toLowerCase()] ?? '';

/**
 * Returns the queue or topic of a span; undefined if it has none. The broker is not part of the name, because the two
 * sides of a queue may know different brokers.
 */
export const readQueue = (span: AttributeReader): Peer | undefined => {
  const system = firstAttribute(span, ['messaging.system']);
  const destination = firstAttribute(span, ['messaging.destination.name', 'messaging.destination']);
  if (system === '' && destination === '') return undefined;
  const template = firstAttribute(span, ['messaging.destination.template']);
  const isGeneratedName =
    span.getAttribute('messaging.destination.temporary') === 'true' ||
    span.getAttribute('messaging.destination.anonymous') === 'true' ||
    span.getAttribute('messaging.temp_destination') === 'true';
  return {
    kind: 'queue',
    name: template || (isGeneratedName ? '(temporary)' : destination || system),
    system,
    address: '',
  };
};

/** Returns the target of a request without a span of the other side: a service by its name, a host, or undefined. */
export const readRemote = (span: AttributeReader): Peer | undefined => {
  const service = firstAttribute(span, ['peer.service']);
  const address = readAddress(span);
  if (service !== '') return { kind: 'service', name: service, system: '', address };
  return address === '' ? undefined : { kind: 'external', name: address, system: '', address: '' };
};
