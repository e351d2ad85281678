/** What a client span is about, by its attributes: OpenTelemetry's conventions of today, and those before them. */
import type { Peer } from '../../schemas/edges.ts';
import type { Span } from '../../schemas/records/span.ts';

/** What is asked of a span here. */
export type Attributed = Pick<Span, 'attribute'>;

const maxNameLength = 512;
/** A name of bounded length. */
export const clip = (name: string): string => (name.length > maxNameLength ? name.slice(0, maxNameLength) : name);

const first = (span: Attributed, keys: readonly string[]): string => {
  for (const key of keys) {
    const text = span.attribute(key);
    if (text !== undefined && text !== '') return clip(text);
  }
  return '';
};

/** Keys of a host, with those of its port. */
const hosts = [
  ['server.address', 'server.port'],
  ['net.peer.name', 'net.peer.port'],
  ['network.peer.address', 'network.peer.port'],
  ['net.sock.peer.addr', 'net.sock.peer.port'],
  ['net.peer.ip', 'net.peer.port'],
] as const;
/** Ports that a host's name goes without. */
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

/** Host and port of an absolute URL. `URL` takes ten times as long, and throws. */
const hostOfUrl = (url: string): string =>
  /^[a-z][a-z+.-]*:\/\/(?:[^/?#]*@)?([^/?#]+?)(?::(?:80|443))?(?:[/?#]|$)/i.exec(url)?.[1] ?? '';

/** The database that a client span asked; undefined when it did not ask one. */
export const databaseOf = (span: Attributed): Peer | undefined => {
  const system = first(span, ['db.system.name', 'db.system']);
  const namespace = first(span, ['db.namespace', 'db.name', 'db.instance']);
  if (system === '' && namespace === '') return undefined;
  const address = addressOf(span);
  // Redis numbers its databases: the number alone names nothing.
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

/** What a span does with a queue: empty when it does not say. */
export const queueOperationOf = (span: Attributed): QueueOperation =>
  operations[first(span, ['messaging.operation.type', 'messaging.operation']).toLowerCase()] ?? '';

/** The queue or topic that a span is about; undefined when it is about none. Brokers are no part of its name: the two sides of a queue may know other ones. */
export const queueOf = (span: Attributed): Peer | undefined => {
  const system = first(span, ['messaging.system']);
  const destination = first(span, ['messaging.destination.name', 'messaging.destination']);
  if (system === '' && destination === '') return undefined;
  const template = first(span, ['messaging.destination.template']);
  const isMadeUp =
    span.attribute('messaging.destination.temporary') === 'true' ||
    span.attribute('messaging.destination.anonymous') === 'true' ||
    span.attribute('messaging.temp_destination') === 'true';
  return { kind: 'queue', name: template || (isMadeUp ? '(temporary)' : destination || system), system, address: '' };
};

/** Whom a request went to, when no span of the other side tells: a service by its name, a host, or undefined. */
export const remoteOf = (span: Attributed): Peer | undefined => {
  const service = first(span, ['peer.service']);
  const address = addressOf(span);
  if (service !== '') return { kind: 'service', name: service, system: '', address };
  return address === '' ? undefined : { kind: 'external', name: address, system: '', address: '' };
};
