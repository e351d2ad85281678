/**
 * The agents that this instance knows: sequence numbers, connections and when each was last seen. A status is published
 * before it is acknowledged; heartbeats only touch memory, and are published once a minute.
 */
import { randomBytes } from 'node:crypto';
import { computeHashId } from '../../runtime/hash-id.ts';
import { runEvery } from '../../runtime/interval.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import {
  type AgentHeartbeat,
  type AgentPart,
  type FleetAgentReport,
  heartbeatWriteMs,
  silentAfterIntervals,
} from '../../schemas/fleet-agents.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Caller } from '../engine/keyring.ts';
import {
  type AgentMessage,
  agentCapabilities,
  type EncodedPart,
  readConfiguration,
  readDescription,
  readHealth,
  uidBytes,
} from './read-message.ts';
import { type ServerMessage, writeServerMessage } from './write-message.ts';

/** Limits of memory: agents of an instance, and of one organization. */
const maxAgents = 100_000;
const maxAgentsOfTenant = 50_000;
/** Agents without a message for this time are removed. Their next message counts as the first. */
const forgetAfterMs = 3_600_000;
const maxIntervalMs = 3_600_000;
/** Consecutive time windows with connections to several instances, after which an agent is a duplicate. */
const duplicateWindows = 2;
const maxCountedInstances = 1_000_000;
/** Time after which the receiver has certainly reported again, as a multiple of the reporting interval. */
const reportSlack = 1.5;

/** A WebSocket. Several agents may share one. */
export interface AgentConnection {
  readonly isOpen: boolean;
  /** Resolves to whether the client responds to a ping now. */
  probe(): Promise<boolean>;
  send(bytes: Buffer): void;
  terminate(): void;
}

interface Session {
  readonly key: string;
  readonly tenantId: string;
  readonly projectId: string;
  readonly agentId: string;
  /** A UUID. A buffer would retain the pool that it was allocated from. */
  readonly instanceUid: string;
  /** Undefined until a message was processed, and after one that was not stored. */
  sequence: bigint | undefined;
  /** The previous sequence, and when another one replaced it. If it continues, two agents have this UID. */
  replacedSequence: { readonly sequence: bigint; readonly atMs: number } | undefined;
  readonly hashes: Map<AgentPart['kind'], string>;
  connection: AgentConnection | undefined;
  connectionState: AgentHeartbeat['connection'];
  wasFullStateRequested: boolean;
  lastSeenMs: number;
  intervalMs: number;
  publishedAtMs: number;
  publishedSeenMs: number;
  isPublishedAsSilent: boolean;
  /** Last time window in which this instance counted its connection of the agent */
  countedWindow: number;
  /** Number of consecutive windows in which another instance had counted a connection of the agent before */
  sharedWindows: number;
}

/** UUID version 7: the time, and random bits. */
const generateInstanceUid = (nowMs: number): Buffer => {
  const uid = randomBytes(uidBytes);
  uid.writeUIntBE(nowMs, 0, 6);
  uid.writeUInt8(0x70 | (uid.readUInt8(6) & 0x0f), 6);
  uid.writeUInt8(0x80 | (uid.readUInt8(8) & 0x3f), 8);
  return uid;
};

const createNewUid = (instanceUid: Buffer, nowMs: number): ServerMessage => ({
  instanceUid,
  newInstanceUid: generateInstanceUid(nowMs),
  requestsFullState: true,
  hasCapabilities: true,
});

const formatUuid = (uid: Buffer): string => uid.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Whether a message has all parts of the status that the agent can report. */
const isFullState = ({ description, health, configuration, capabilities }: AgentMessage): boolean =>
  description !== undefined &&
  (health !== undefined || (capabilities & agentCapabilities.reportsHealth) === 0n) &&
  (configuration !== undefined || (capabilities & agentCapabilities.reportsEffectiveConfig) === 0n);

const partReaders: Readonly<Record<'description' | 'health' | 'configuration', (part: EncodedPart) => AgentPart>> = {
  description: readDescription,
  health: readHealth,
  configuration: readConfiguration,
};
const partKinds = ['description', 'health', 'configuration'] as const;

/** A part of a status that differs from the published one. */
interface ChangedPart {
  readonly kind: (typeof partKinds)[number];
  readonly part: EncodedPart;
}

const getConnectionState = (
  { isDisconnect }: AgentMessage,
  connection: AgentConnection | undefined,
): AgentHeartbeat['connection'] => {
  if (isDisconnect) return 'disconnected';
  return connection === undefined ? 'polling' : 'open';
};

export interface AgentRegistryOptions {
  readonly clock: Clock;
  /** Expected time between messages of an agent. */
  readonly intervalMs: number;
  /** Resolves when the report is durable. */
  readonly publish: (report: FleetAgentReport) => Promise<void>;
  readonly isEnabled: (tenantId: string) => boolean;
  /** Counters that instances share. If another instance has an agent with the same UID, the agent gets a new one. */
  readonly counters: Pick<Counters, 'spend'>;
  /** Called after each check of all agents. */
  readonly onCount?: (agents: { readonly connected: number; readonly polling: number }) => void;
}

export class AgentRegistry {
  readonly #options: AgentRegistryOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #countByTenant = new Map<string, number>();
  readonly #stopChecks: () => void;
  readonly #writeEveryMs: number;
  readonly #pendingReports = new Set<Promise<void>>();

  constructor(options: AgentRegistryOptions) {
    this.#options = options;
    const { intervalMs } = options;
    this.#writeEveryMs = Math.min(heartbeatWriteMs, 2 * intervalMs);
    this.#stopChecks = runEvery(Math.min(5_000, Math.ceil(intervalMs / 6)), () => this.#checkSessions());
  }

  /**
   * Processes a message. Resolves with the response; rejects with `UnavailableError` if the bus did not accept the
   * status. Messages of one connection must be processed in order.
   */
  async process(
    message: AgentMessage,
    caller: Caller,
    connection: AgentConnection | undefined,
  ): Promise<ServerMessage> {
    const { instanceUid, requestsInstanceUid } = message;
    if (instanceUid.length !== uidBytes)
      return {
        instanceUid,
        error: {
          type: 'badRequest',
          message: `instance_uid must have ${uidBytes} bytes, and has ${instanceUid.length}: use a UUID`,
        },
      };
    // The agent sends its status under the new UID next. Until then, it is unknown.
    if (requestsInstanceUid || (await this.#isDuplicate(message, caller, connection)))
      return createNewUid(instanceUid, this.#options.clock.now());
    const session = this.#openSession(instanceUid, caller);
    if (session === undefined)
      throw new UnavailableError('this instance has reached its maximum number of agents', { retryAfterSeconds: 60 });
    return { instanceUid, ...(await this.#update(session, message, connection)) };
  }

  /** Records that a connection is alive without a message, for its agents. */
  touch(instanceKeys: Iterable<string>): void {
    const nowMs = this.#options.clock.now();
    for (const key of instanceKeys) {
      const session = this.#sessions.get(key);
      if (session !== undefined) session.lastSeenMs = nowMs;
    }
  }

  /** Records that a connection has ended. Its agents become silent if they do not return. */
  closeConnection(connection: AgentConnection, keys: Iterable<string>): void {
    for (const key of keys) {
      const session = this.#sessions.get(key);
      if (session?.connection !== connection) continue;
      session.connection = undefined;
      if (session.connectionState === 'open') session.connectionState = 'closed';
    }
  }

  /** Publishes changes that are not published yet. */
  async close(): Promise<void> {
    this.#stopChecks();
    for (const session of this.#sessions.values())
      if (session.lastSeenMs > session.publishedSeenMs) this.#reportHeartbeat(session);
    await Promise.all(this.#pendingReports);
  }

  getKey(caller: Pick<Caller, 'tenantId' | 'projectId'>, instanceUid: Buffer): string {
    return `${caller.tenantId}/${caller.projectId}/${instanceUid.toString('base64')}`;
  }

  /** Returns whether another agent has the UID of a message. */
  async #isDuplicate(
    { instanceUid, sequence }: AgentMessage,
    caller: Caller,
    connection: AgentConnection | undefined,
  ): Promise<boolean> {
    const session = this.#sessions.get(this.getKey(caller, instanceUid));
    if (session === undefined) return false;
    const otherConnection = session.connection;
    if (otherConnection !== undefined && otherConnection !== connection && otherConnection.isOpen) {
      if (await otherConnection.probe()) return true;
      // The client lost this connection and returned.
      otherConnection.terminate();
    }
    const { replacedSequence: replaced, sequence: current } = session;
    return (
      replaced !== undefined &&
      current !== undefined &&
      sequence === replaced.sequence + 1n &&
      sequence !== current + 1n &&
      this.#options.clock.now() - replaced.atMs < silentAfterIntervals * session.intervalMs
    );
  }

  #openSession(instanceUid: Buffer, caller: Caller): Session | undefined {
    const { tenantId, projectId } = caller;
    const key = this.getKey(caller, instanceUid);
    const existing = this.#sessions.get(key);
    if (existing !== undefined) return existing;
    const tenantCount = this.#countByTenant.get(tenantId) ?? 0;
    if (this.#sessions.size >= maxAgents || tenantCount >= maxAgentsOfTenant) return undefined;
    this.#countByTenant.set(tenantId, tenantCount + 1);
    const session: Session = {
      key,
      tenantId,
      projectId,
      agentId: computeHashId('opamp', projectId, instanceUid.toString('hex')),
      instanceUid: formatUuid(instanceUid),
      sequence: undefined,
      replacedSequence: undefined,
      hashes: new Map(),
      connection: undefined,
      connectionState: 'polling',
      wasFullStateRequested: false,
      lastSeenMs: 0,
      intervalMs: this.#options.intervalMs,
      publishedAtMs: 0,
      publishedSeenMs: 0,
      isPublishedAsSilent: false,
      countedWindow: 0,
      sharedWindows: 0,
    };
    this.#sessions.set(key, session);
    return session;
  }

  /** Returns whether parts of the status may be missing, by the sequence number. */
  #followSequence(session: Session, message: AgentMessage): boolean {
    const { sequence } = message;
    const previous = session.sequence;
    session.sequence = sequence;
    // Without a previous message, nothing was missed if the first one is complete.
    if (previous === undefined) {
      session.hashes.clear();
      return !isFullState(message);
    }
    if (sequence === previous + 1n) return false;
    session.replacedSequence = { sequence: previous, atMs: this.#options.clock.now() };
    session.hashes.clear();
    // Otherwise, an agent that never increments its number would send its complete status in a loop.
    return !(session.wasFullStateRequested && isFullState(message));
  }

  async #update(
    session: Session,
    message: AgentMessage,
    connection: AgentConnection | undefined,
  ): Promise<Omit<ServerMessage, 'instanceUid'>> {
    const nowMs = this.#options.clock.now();
    const isKnown = session.sequence !== undefined && !session.isPublishedAsSilent;
    const isFirstOnConnection = connection === undefined || session.connection !== connection;
    const requestsFullState = this.#followSequence(session, message);
    session.wasFullStateRequested = requestsFullState;
    this.#followInterval(session, connection, nowMs);
    session.lastSeenMs = nowMs;
    session.connection = message.isDisconnect ? undefined : connection;
    session.connectionState = getConnectionState(message, connection);
    const parts = partKinds.flatMap((kind) => {
      const part = message[kind];
      return part === undefined || session.hashes.get(kind) === part.hash ? [] : [{ kind, part }];
    });
    if (parts.length > 0 || !isKnown || message.isDisconnect) await this.#publishParts(session, parts, nowMs);
    if (message.isDisconnect) this.#forget(session);
    return { requestsFullState, hasCapabilities: isFirstOnConnection };
  }

  async #publishParts(session: Session, parts: readonly ChangedPart[], nowMs: number): Promise<void> {
    try {
      const readParts = parts.map(({ kind, part }) => partReaders[kind](part));
      await this.#publish(session, readParts, nowMs);
      for (const { kind, part } of parts) session.hashes.set(kind, part.hash);
    } catch (error) {
      // The agent may not send these parts again, so the next message must be one with a complete status.
      session.sequence = undefined;
      session.hashes.clear();
      throw error;
    }
  }

  /** Pings keep connections at the expected interval. Agents that poll have their own. */
  #followInterval(session: Session, connection: AgentConnection | undefined, nowMs: number): void {
    const { intervalMs } = this.#options;
    const gapMs = nowMs - session.lastSeenMs;
    if (connection !== undefined || session.lastSeenMs === 0) session.intervalMs = intervalMs;
    else if (gapMs >= intervalMs / 2) session.intervalMs = Math.min(maxIntervalMs, Math.max(intervalMs, gapMs));
  }

  #isSilent({ lastSeenMs, intervalMs }: Session, nowMs: number): boolean {
    return nowMs - lastSeenMs >= silentAfterIntervals * intervalMs;
  }

  async #publish(session: Session, parts: readonly AgentPart[], nowMs: number): Promise<void> {
    const { tenantId, projectId, agentId, instanceUid, lastSeenMs, intervalMs, connectionState } = session;
    // Two reports within a millisecond would have no defined order.
    const atMs = Math.max(nowMs, session.publishedAtMs + 1);
    const heartbeat: AgentHeartbeat = {
      kind: 'heartbeat',
      lastSeenMs,
      intervalMs,
      connection: connectionState,
      isSilent: this.#isSilent(session, nowMs),
      nextReportByMs: nowMs + reportSlack * this.#writeEveryMs,
    };
    session.publishedAtMs = atMs;
    session.publishedSeenMs = lastSeenMs;
    session.isPublishedAsSilent = heartbeat.isSilent;
    await this.#options.publish({
      tenantId,
      projectId,
      agentId,
      instanceUid,
      atMs,
      parts: [...parts, heartbeat],
    });
  }

  #reportHeartbeat(session: Session): void {
    const report = this.#publish(session, [], this.#options.clock.now())
      .catch(() => {
        // The next check retries.
        session.publishedSeenMs = 0;
        session.isPublishedAsSilent = false;
      })
      .finally(() => this.#pendingReports.delete(report));
    this.#pendingReports.add(report);
  }

  /**
   * Counts an open connection once per time window. An agent has one connection, also after it moved to another
   * instance: if another instance counted the agent first in two windows, two agents have its UID.
   */
  #countConnection(session: Session, nowMs: number): void {
    const window = Math.floor(nowMs / this.#writeEveryMs);
    if (session.countedWindow === window || !session.connection?.isOpen) return;
    session.countedWindow = window;
    const counted = this.#options.counters
      .spend(`opamp/${session.tenantId}/${session.agentId}`, maxCountedInstances, this.#writeEveryMs, 1)
      .then(
        ({ used }) => this.#followCount(session, used),
        // Without the shared counts, duplicates are found within this instance only.
        () => undefined,
      )
      .finally(() => this.#pendingReports.delete(counted));
    this.#pendingReports.add(counted);
  }

  #followCount(session: Session, used: number): void {
    session.sharedWindows = used > 1 ? session.sharedWindows + 1 : 0;
    const { connection, instanceUid } = session;
    if (session.sharedWindows < duplicateWindows || connection === undefined) return;
    const message = createNewUid(Buffer.from(instanceUid.replaceAll('-', ''), 'hex'), this.#options.clock.now());
    connection.send(writeServerMessage(message, { hasHeader: true }));
    this.#forget(session);
  }

  #forget({ key, tenantId }: Session): void {
    if (!this.#sessions.delete(key)) return;
    const count = (this.#countByTenant.get(tenantId) ?? 1) - 1;
    if (count > 0) this.#countByTenant.set(tenantId, count);
    else this.#countByTenant.delete(tenantId);
  }

  #checkSessions(): void {
    const nowMs = this.#options.clock.now();
    let connected = 0;
    let polling = 0;
    for (const session of this.#sessions.values()) {
      if (nowMs - session.lastSeenMs >= forgetAfterMs || !this.#options.isEnabled(session.tenantId)) {
        this.#forget(session);
        continue;
      }
      if (session.connection === undefined) polling++;
      else {
        connected++;
        this.#countConnection(session, nowMs);
      }
      const isNewlySilent = !session.isPublishedAsSilent && this.#isSilent(session, nowMs);
      const isDue = nowMs - session.publishedAtMs >= this.#writeEveryMs && session.lastSeenMs > session.publishedSeenMs;
      if (isNewlySilent || isDue) this.#reportHeartbeat(session);
    }
    this.#options.onCount?.({ connected, polling });
  }
}
