/** Extracts the call of one span: the end of a call that another span completes, or a complete call. */
import type { CallEnd, Peer } from '../../schemas/edges.ts';
import type { Span } from '../../schemas/records/span.ts';
import type { Call, Edge } from './counts.ts';
import { clip, readDatabase, readQueue, readQueueOperation, readRemote } from './peers.ts';

const internalKind = 1;
const serverKindNumber = 2;
const clientKindNumber = 3;
const producerKind = 4;
const consumerKind = 5;
const errorStatus = 2;

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
export const buildEdgeToPeer = (
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
export const buildEdgeFromPeer = (
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
  clip(
    span.getResourceAttribute('deployment.environment.name') ??
      span.getResourceAttribute('deployment.environment') ??
      '',
  );

/** Returns the part of an end that describes its own span. */
const toCallEnd = ({ environment, failed, ...ownService }: OwnCall): Omit<CallEnd, 'traceId' | 'callerId'> => ({
  ...ownService,
  ...(environment !== '' && { environment }),
  ...(failed && { failed }),
});

/** Passes the calls of a span to the observer. Internal spans have none. */
export const observeSpan = (span: Span, observer: Observer): void => {
  const { kind } = span;
  if (kind <= internalKind || kind > consumerKind) return;
  const ownCall = {
    tenantId: span.tenantId,
    projectId: span.projectId,
    service: clip(span.service),
    environment: readEnvironment(span),
    startMs: span.timeMs + Math.floor(Number(span.timeNs % 1_000_000n) / 1_000) / 1_000,
    durationNs: Math.round(span.durationMs * 1_000_000),
    failed: span.statusCode === errorStatus,
  };
  if (kind === serverKindNumber) observeServer(span, ownCall, observer);
  else if (kind === consumerKind) observeConsumer(span, ownCall, observer);
  else observeClient(span, ownCall, observer);
};

interface OwnCall extends OwnService {
  readonly tenantId: string;
  readonly startMs: number;
  readonly durationNs: number;
  readonly failed: boolean;
}

const toCall = ({ startMs, failed, durationNs }: OwnCall): Call => ({ startMs, failed, durationNs });

/** Handles a client or producer span. */
const observeClient = (span: Span, ownCall: OwnCall, observer: Observer): void => {
  const database = span.kind === clientKindNumber ? readDatabase(span) : undefined;
  if (database !== undefined) {
    observer.call(buildEdgeToPeer(ownCall, database, 'query'), toCall(ownCall));
    return;
  }
  const queue = readQueue(span);
  if (queue === undefined) {
    const isMessage = span.kind === producerKind;
    const peer = isMessage ? undefined : readRemote(span);
    observer.end({
      ...toCallEnd(ownCall),
      ...toCallerIds(span),
      ...(isMessage && { isMessage }),
      ...(peer !== undefined && { peer }),
    });
    return;
  }
  const operation = readQueueOperation(span);
  if (operation === 'settle') return;
  if (operation === 'receive' || operation === 'process') {
    observer.call(buildEdgeFromPeer(queue, ownCall, operation), toCall(ownCall));
    return;
  }
  if (operation !== 'create') observer.call(buildEdgeToPeer(ownCall, queue, 'publish'), toCall(ownCall));
  observer.end({ ...toCallEnd(ownCall), ...toCallerIds(span), isMessage: true, peer: queue });
};

/** Handles a server span. */
const observeServer = (span: Span, ownCall: OwnCall, observer: Observer): void => {
  const { traceId, spanId } = span;
  // In Zipkin, the server span shares the id of its client span.
  const callerId = span.getAttribute('zipkin.shared') === 'true' ? spanId : span.parentSpanId;
  if (callerId === '')
    observer.call(buildEdgeFromPeer(userPeer, ownCall, 'request'), {
      ...toCall(ownCall),
      serverDurationNs: ownCall.durationNs,
    });
  else observer.end({ ...toCallEnd(ownCall), traceId, callerId, calleeId: spanId });
};

/** Handles a consumer span: one message by its parent, several by its links. */
const observeConsumer = (span: Span, ownCall: OwnCall, observer: Observer): void => {
  const queue = readQueue(span);
  const isReceive = readQueueOperation(span) === 'receive';
  if (queue !== undefined)
    observer.call(buildEdgeFromPeer(queue, ownCall, isReceive ? 'receive' : 'process'), {
      ...toCall(ownCall),
      serverDurationNs: ownCall.durationNs,
    });
  const { traceId, spanId, parentSpanId } = span;
  const end = { ...toCallEnd(ownCall), calleeId: spanId, isMessage: true, ...(queue !== undefined && { peer: queue }) };
  // A polling span links all received messages. Each is processed in its own span, which links it again.
  const links = isReceive ? [] : span.links;
  const linkedKeys = new Set<string>();
  for (const link of links) {
    const key = link.traceId + link.spanId;
    if (linkedKeys.has(key)) continue;
    linkedKeys.add(key);
    observer.end({ ...end, traceId: link.traceId, callerId: link.spanId });
  }
  if (links.length === 0 && parentSpanId !== '') observer.end({ ...end, traceId, callerId: parentSpanId });
};

const toCallerIds = ({ traceId, spanId }: Span): Pick<CallEnd, 'traceId' | 'callerId'> => ({
  traceId,
  callerId: spanId,
});
