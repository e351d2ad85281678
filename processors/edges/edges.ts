import type { Peer, UnpairedReason } from '../../schemas/edges.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { type Call, type Edge, EdgeCounts } from './counts.ts';
import type { End } from './ends.ts';
import { countCall, flush, flushTimer } from './flush.ts';
import { buildEdgeFromPeer, buildEdgeToPeer, unknownPeer } from './observe.ts';
import { type PairingHandlers, PendingCalls } from './pending-calls.ts';

/** Maximum time between the ends of the two spans of one call. The server may continue after the client times out. */
const maxSpanGapMs = 60_000;

const findQueue = ({ peer }: End): Pick<Peer, 'name' | 'system'> => (peer?.kind === 'queue' ? peer : unknownPeer);

/** Builds the edge between two spans of one call. */
const buildPairedEdge = (caller: End, callee: End): Edge => {
  const isMessage = caller.isMessage || callee.isMessage;
  const callerQueue = findQueue(caller);
  const queue = callerQueue.name === '' ? findQueue(callee) : callerQueue;
  return {
    projectId: caller.projectId,
    serverProjectId: callee.projectId,
    connection: isMessage ? 'message' : 'request',
    client: caller.service,
    clientKind: 'service',
    clientEnvironment: caller.environment,
    server: callee.service,
    serverKind: 'service',
    serverEnvironment: callee.environment,
    system: isMessage ? queue.system : '',
    address: '',
    via: isMessage ? queue.name : '',
  };
};

const buildPairedCall = (caller: End, callee: End): Call => ({
  startMs: caller.startMs,
  failed: caller.failed || callee.failed,
  durationNs:
    caller.isMessage || callee.isMessage
      ? Math.max(0, Math.round((callee.startMs - caller.startMs) * 1_000) * 1_000 - caller.durationNs)
      : caller.durationNs,
  serverDurationNs: callee.durationNs,
});

/** Builds the edge of an end whose other side did not arrive. */
const buildUnpairedEdge = (end: End, isCaller: boolean): Edge => {
  const connection = end.isMessage ? 'message' : 'request';
  const queue = findQueue(end);
  const peer = end.isMessage ? { ...unknownPeer, system: queue.system } : (end.peer ?? unknownPeer);
  return isCaller
    ? buildEdgeToPeer(end, peer, connection, queue.name)
    : buildEdgeFromPeer(peer, end, connection, queue.name);
};

const buildUnpairedCall = (
  { startMs, durationNs, failed, isMessage }: End,
  isCaller: boolean,
  unpaired: UnpairedReason | undefined,
): Call => ({
  startMs,
  failed,
  ...(!isMessage && { durationNs }),
  ...(!isCaller && { serverDurationNs: durationNs }),
  ...(unpaired !== undefined && { unpaired }),
});

interface State {
  readonly waiting: PendingCalls;
  readonly counts: EdgeCounts;
}

const emits = { edges: topics.serviceEdges };

/** Turns pairs and unpaired ends into calls of edges. */
const createPairingHandlers = (
  context: Context<typeof emits, Readonly<Record<never, never>>, State>,
): PairingHandlers => {
  const addCall = (edge: Edge, call: Call): void =>
    countCall(context.state.counts, edge, call, context, context.emit.edges);
  return {
    pair: (caller, callee) => addCall(buildPairedEdge(caller, callee), buildPairedCall(caller, callee)),
    unpaired: (end, isCaller, reason) => {
      const edge = buildUnpairedEdge(end, isCaller);
      // External servers send no spans, so a missing span means nothing.
      addCall(edge, buildUnpairedCall(end, isCaller, edge.serverKind === 'external' ? undefined : reason));
    },
  };
};

/** Joins the ends of calls, and counts calls by edge and minute. `docs/reference/service-map.md` has the rules. */
export const serviceEdges = defineProcessor({
  name: 'service-edges',
  summary: 'Joins the two ends of each call, and counts calls between services by minute.',
  reads: createItemSource(topics.callEnds),
  emits,
  state: {
    version: 1,
    open(saved): State {
      const { waiting, counts } = saved === undefined ? {} : JSON.parse(Buffer.from(saved).toString('utf8'));
      return { waiting: new PendingCalls(maxSpanGapMs, waiting), counts: new EdgeCounts(counts) };
    },
    save: ({ waiting, counts }) => Buffer.from(JSON.stringify({ waiting: waiting.save(), counts: counts.save() })),
    size: ({ waiting, counts }) => ({
      entries: waiting.entries + counts.entries,
      bytes: waiting.bytes + counts.bytes,
      evicted: waiting.evicted,
    }),
  },
  step(end, context) {
    const { waiting } = context.state;
    const { isNew, due } = waiting.add(end, context, createPairingHandlers(context));
    if (due !== undefined) context.setTimer('watermark', due * 1000, String(due));
    if (!isNew) context.drop('duplicate');
  },
  timer({ key }, context) {
    const { state, tenantId, emit } = context;
    if (key === flushTimer) flush(state.counts, tenantId, emit.edges);
    else
      for (const due of state.waiting.expire(Number(key), createPairingHandlers(context)))
        context.setTimer('watermark', due * 1000, String(due));
  },
});
