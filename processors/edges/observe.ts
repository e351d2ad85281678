/** Extracts the call of one span: the end of a call that another span completes, or a complete call. */
import type { CallEnd, Peer } from '../../schemas/edges.ts';
import type { Span } from '../../schemas/records/span.ts';
import type { Call, Edge } from './counts.ts';
import { clip, readDatabase, readQueue, readQueueOperation, readRemote } from './peers.ts';

const internal = 1;
const server = 2;
const client = 3;
const producer = 4;
const consumer = 5;
const failed = 2;

/** Peer of a service that was called without a client span. */
const userPeer: Peer = { kind: 'user', name: '', system: '', address: '' };
export const unknownPeer: Peer = { kind: 'unknown', name: '', system: '', address: '' };

export interface Observer {
  end(end: CallEnd): void;
  call(edge: Edge, call: Call): void;
}

/** The part of an edge that describes a span's own service. */
interface OwnService {
  readonly projectId: string;
  readonly service: string;
  readonly environment: string;
}

/** Builds the edge from a service to a peer that has no spans of its own. */
export const edgeTo = (
  { projectId, service, environment }: OwnService,
  peer: Peer,
  connection: Edge['connection'],
  via = '',
): Edge => ({
  projectId,
  serverProjectId: projectId,
  connection,
  client: service,
  clientKind: 'service',
  clientEnvironment: environment,
  server: peer.name,
  serverKind: peer.kind,
  serverEnvironment: '',
  system: peer.system,
  address: peer.address,
  via,
});

/** Builds the edge from a peer without spans to a service. */
export const edgeFrom = (
  peer: Peer,
  { projectId, service, environment }: OwnService,
  connection: Edge['connection'],
  via = '',
): Edge => ({
  projectId,
  serverProjectId: projectId,
  connection,
  client: peer.name,
  clientKind: peer.kind,
  clientEnvironment: '',
  server: service,
  serverKind: 'service',
  serverEnvironment: environment,
  system: peer.system,
  address: '',
  via,
});

const readEnvironment = (span: Span): string =>
  clip(span.resource('deployment.environment.name') ?? span.resource('deployment.environment') ?? '');

/** Returns the part of an end that describes its own span. */
const toCallEnd = ({ environment, failed, ...own }: OwnCall): Omit<CallEnd, 'traceId' | 'callerId'> => ({
  ...own,
  ...(environment !== '' && { environment }),
  ...(failed && { failed }),
});

/** Passes the calls of a span to the observer. Internal spans have none. */
export const observeSpan = (span: Span, observer: Observer): void => {
  const { kind } = span;
  if (kind <= internal || kind > consumer) return;
  const own = {
    tenantId: span.tenantId,
    projectId: span.projectId,
    service: clip(span.service),
    environment: readEnvironment(span),
    startMs: span.timeMs + Math.floor(Number(span.timeNs % 1_000_000n) / 1_000) / 1_000,
    durationNs: Math.round(span.durationMs * 1_000_000),
    failed: span.statusCode === failed,
  };
  if (kind === server) observeServer(span, own, observer);
  else if (kind === consumer) observeConsumer(span, own, observer);
  else observeClient(span, own, observer);
};

interface OwnCall extends OwnService {
  readonly tenantId: string;
  readonly startMs: number;
  readonly durationNs: number;
  readonly failed: boolean;
}

const toCall = ({ startMs, failed, durationNs }: OwnCall): Call => ({ startMs, failed, durationNs });

/** Handles a client or producer span. */
const observeClient = (span: Span, own: OwnCall, observer: Observer): void => {
  const database = span.kind === client ? readDatabase(span) : undefined;
  if (database !== undefined) {
    observer.call(edgeTo(own, database, 'query'), toCall(own));
    return;
  }
  const queue = readQueue(span);
  if (queue === undefined) {
    const isMessage = span.kind === producer;
    const peer = isMessage ? undefined : readRemote(span);
    observer.end({
      ...toCallEnd(own),
      ...callerIds(span),
      ...(isMessage && { isMessage }),
      ...(peer !== undefined && { peer }),
    });
    return;
  }
  const operation = readQueueOperation(span);
  if (operation === 'settle') return;
  if (operation === 'receive' || operation === 'process') {
    observer.call(edgeFrom(queue, own, operation), toCall(own));
    return;
  }
  if (operation !== 'create') observer.call(edgeTo(own, queue, 'publish'), toCall(own));
  observer.end({ ...toCallEnd(own), ...callerIds(span), isMessage: true, peer: queue });
};

/** Handles a server span. */
const observeServer = (span: Span, own: OwnCall, observer: Observer): void => {
  const { traceId, spanId } = span;
  // In Zipkin, the server span shares the id of its client span.
  const callerId = span.attribute('zipkin.shared') === 'true' ? spanId : span.parentSpanId;
  if (callerId === '')
    observer.call(edgeFrom(userPeer, own, 'request'), { ...toCall(own), serverDurationNs: own.durationNs });
  else observer.end({ ...toCallEnd(own), traceId, callerId, calleeId: spanId });
};

/** Handles a consumer span: one message by its parent, several by its links. */
const observeConsumer = (span: Span, own: OwnCall, observer: Observer): void => {
  const queue = readQueue(span);
  const isReceive = readQueueOperation(span) === 'receive';
  if (queue !== undefined)
    observer.call(edgeFrom(queue, own, isReceive ? 'receive' : 'process'), {
      ...toCall(own),
      serverDurationNs: own.durationNs,
    });
  const { traceId, spanId, parentSpanId } = span;
  const end = { ...toCallEnd(own), calleeId: spanId, isMessage: true, ...(queue !== undefined && { peer: queue }) };
  // A polling span links all received messages. Each is processed in its own span, which links it again.
  const links = isReceive ? [] : span.links;
  const seen = new Set<string>();
  for (const link of links) {
    const key = link.traceId + link.spanId;
    if (seen.has(key)) continue;
    seen.add(key);
    observer.end({ ...end, traceId: link.traceId, callerId: link.spanId });
  }
  if (links.length === 0 && parentSpanId !== '') observer.end({ ...end, traceId, callerId: parentSpanId });
};

const callerIds = ({ traceId, spanId }: Span): Pick<CallEnd, 'traceId' | 'callerId'> => ({ traceId, callerId: spanId });
