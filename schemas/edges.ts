/**
 * Service graph: the calls that spans describe, and their sums per minute. `docs/reference/service-map.md` has the rules.
 */
import { z } from 'zod';

/**
 * Kinds of nodes at the ends of an edge. `external` is an outside host. `user` is a caller without a span. `unknown`
 * has no span, and no attribute names it.
 */
export const nodeKinds = ['service', 'database', 'queue', 'external', 'user', 'unknown'] as const;
export type NodeKind = (typeof nodeKinds)[number];

/**
 * Kinds of connections. `request`: a call. `query`: a database call. `publish`: from a service to a queue. `receive`: a
 * poll of a queue. `process`: a service processes a message of a queue. `message`: from the service that sent a message
 * to the service that processed it.
 */
export const connections = ['request', 'query', 'publish', 'receive', 'process', 'message'] as const;
export type Connection = (typeof connections)[number];

/**
 * Reasons why the other side of a span is missing: it did not arrive in time, the span itself arrived late, or the
 * store of unpaired spans was full.
 */
export const unpairedReasons = ['expired', 'late', 'evicted'] as const;
export type UnpairedReason = (typeof unpairedReasons)[number];

const nameSchema = z.string().max(512);
/** Description of the other side, from the attributes of a span. */
export const Peer = z.strictObject({
  kind: z.enum(nodeKinds),
  name: nameSchema,
  system: nameSchema.describe('Product, such as postgresql or kafka'),
  address: nameSchema.describe('Host and port, if the name does not contain them'),
});
export type Peer = z.output<typeof Peer>;

/**
 * One side of a call. Both sides of a call name the same calling span. Fields that are false or empty are omitted,
 * to save space.
 */
export const CallEnd = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  traceId: z.string().describe('Trace of the calling span; differs from that of a consumer that is linked to it'),
  callerId: z.string().describe('ID of the calling span'),
  calleeId: z.string().optional().describe('ID of the called span; absent on the calling side'),
  isMessage: z.boolean().optional().describe('Whether the call is a message instead of a request'),
  service: nameSchema,
  environment: nameSchema.optional(),
  startMs: z.number().describe('Start time in epoch milliseconds, with microsecond precision'),
  durationNs: z.int(),
  failed: z.boolean().optional(),
  peer: Peer.optional(),
});
export type CallEnd = z.output<typeof CallEnd>;

/**
 * Returns the end time of the span in epoch milliseconds. Spans are sent when they end, so this time determines their
 * lateness.
 */
export const getEndMs = ({ startMs, durationNs }: Pick<CallEnd, 'startMs' | 'durationNs'>): number =>
  startMs + Math.floor(durationNs / 1_000_000);

const countSchema = z.int().min(0);

/**
 * Calls over one edge that began in one minute. Values of the same edge and minute add up, and never replace each
 * other.
 */
export const ServiceEdge = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe('Project of the client, or of the server if there is no client span'),
  serverProjectId: z.string().describe('Project of the server, or of the client if there is no server span'),
  minute: z.int().describe('Start of the minute, in epoch milliseconds'),
  connection: z.enum(connections),
  client: nameSchema,
  clientKind: z.enum(nodeKinds),
  clientEnvironment: nameSchema,
  server: nameSchema,
  serverKind: z.enum(nodeKinds),
  serverEnvironment: nameSchema,
  system: nameSchema,
  address: nameSchema,
  via: nameSchema.describe('Queue that delivered the message'),
  requests: countSchema,
  errors: countSchema,
  timed: countSchema.describe('Number of requests with a known duration'),
  durationSum: countSchema.describe('Sum of durations, in nanoseconds'),
  durationMax: countSchema,
  durationBuckets: z
    .record(z.string(), countSchema)
    .describe('Number of requests by bucket: floor(8 · log2(nanoseconds + 1))'),
  serverDurationSum: countSchema.describe('Sum of durations of the called spans, in nanoseconds'),
  unpaired: z.partialRecord(z.enum(unpairedReasons), countSchema),
});
export type ServiceEdge = z.output<typeof ServiceEdge>;
