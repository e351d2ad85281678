/** Who calls whom: what a span says about a call, and what a minute's calls add up to. The rules are in `processors/edges/README.md`. */
import { z } from 'zod';

/**
 * What lies at an end of an edge. `external` is a host outside, `user` called without a span of its own, and of `unknown` no span
 * came and no attribute names it.
 */
export const nodeKinds = ['service', 'database', 'queue', 'external', 'user', 'unknown'] as const;
export type NodeKind = (typeof nodeKinds)[number];

/**
 * `request`: a call. `query`: a call of a database. `publish`: from a service to a queue. `receive`: a poll of a queue. `process`:
 * a service works on what a queue delivered. `message`: from the service that sent a message to the one that processed it.
 */
export const connections = ['request', 'query', 'publish', 'receive', 'process', 'message'] as const;
export type Connection = (typeof connections)[number];

/** Why a span's other side is missing: it did not come in time, the span itself came late, or there was no room to wait. */
export const unpairedReasons = ['expired', 'late', 'evicted'] as const;
export type UnpairedReason = (typeof unpairedReasons)[number];

const name = z.string().max(512);
/** What a span says about the other side, by its attributes. */
export const Peer = z.strictObject({
  kind: z.enum(nodeKinds),
  name,
  system: name.describe('The product: postgresql, kafka, …'),
  address: name.describe('Host and port, where the name does not say it'),
});
export type Peer = z.output<typeof Peer>;

/** One side of a call. The sides of one call name the same calling span. What is false or empty is left out: there are many of them. */
export const CallEnd = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  traceId: z.string().describe('Trace of the calling span: another one than of a consumer that is linked to it'),
  callerId: z.string().describe('Id of the calling span'),
  calleeId: z.string().optional().describe('Id of the called span; absent on the calling side'),
  isMessage: z.boolean().optional().describe('Whether it is about a message, not a request'),
  service: name,
  environment: name.optional(),
  startMs: z.number().describe('Epoch milliseconds, to the microsecond'),
  durationNs: z.int(),
  failed: z.boolean().optional(),
  peer: Peer.optional(),
});
export type CallEnd = z.output<typeof CallEnd>;

/** When the span ended, in epoch milliseconds: spans are sent when they end, so this is the time that says how late one is. */
export const endOf = ({ startMs, durationNs }: Pick<CallEnd, 'startMs' | 'durationNs'>): number =>
  startMs + Math.floor(durationNs / 1_000_000);

const count = z.int().min(0);

/** Calls over one edge, of those that began in one minute. Values of one edge and minute add up; none replaces another. */
export const ServiceEdge = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe("The client's project, or the server's where no client span came"),
  serverProjectId: z.string().describe("The server's project, or the client's where no server span came"),
  minute: z.int().describe('Its beginning, epoch milliseconds'),
  connection: z.enum(connections),
  client: name,
  clientKind: z.enum(nodeKinds),
  clientEnvironment: name,
  server: name,
  serverKind: z.enum(nodeKinds),
  serverEnvironment: name,
  system: name,
  address: name,
  via: name.describe('Queue that a message went through'),
  requests: count,
  errors: count,
  timed: count.describe('Requests whose duration is known'),
  durationSum: count.describe('Nanoseconds'),
  durationMax: count,
  durationBuckets: z.record(z.string(), count).describe('floor(8 · log2(nanoseconds + 1)) → requests'),
  serverDurationSum: count.describe('As the called spans have it'),
  unpaired: z.partialRecord(z.enum(unpairedReasons), count),
});
export type ServiceEdge = z.output<typeof ServiceEdge>;
