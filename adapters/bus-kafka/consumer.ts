/** A consumer: a sequence of memberships, each with a loop for every assigned partition. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { throttleFailures } from '../../runtime/log-throttle.ts';
import type { Batch, Consumer, PartitionEvents } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { Cluster, type DriverOptions } from './cluster.ts';
import type { Assignment } from './coordinator.ts';
import { describeFailure, isProtocolError, MissingTopicError } from './failures.ts';
import { Fetcher } from './fetcher.ts';
import type { Takeover } from './group-migration.ts';
import { type GroupTiming, Membership } from './membership.ts';
import { type BatchLimits, PartitionLoop, parseClaim } from './partition-loop.ts';
import type { SharedFetcher } from './shared-fetcher.ts';
import { FatalBusError } from './wire.ts';

export interface KafkaConsumerOptions {
  readonly driver: DriverOptions;
  readonly group: string;
  readonly limits: BatchLimits;
  readonly timing: GroupTiming;
  readonly log: Log;
  /** Shared by the consumers of a process. */
  readonly shared: SharedFetcher;
  /** Takeover from a group with another name, which this group replaces. */
  readonly takeover: Takeover | undefined;
  /** First retained offsets of a topic, by partition. */
  earliest(topic: string): Promise<readonly number[]>;
}

interface Handlers {
  readonly onBatch: (batch: Batch) => Promise<void>;
  readonly events: PartitionEvents;
}

const maxBackOffMs = 2000;
const commitRetryMs = 250;
/** Number of attempts to commit after `stop` while the coordinator is unavailable. */
const maxCommitAttemptsAfterStop = 40;
/** A broker that has just started may not know its topics yet. */
const maxMissingTopicAttempts = 5;

/** The group has reassigned this member's partitions to other members. */
class PartitionLostError extends Error {}

const isMembershipLost = (error: unknown): boolean => isProtocolError(error, 'UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION');

export class KafkaConsumer implements Consumer {
  readonly #options: KafkaConsumerOptions;
  /** Separate connections: a fetch or a join that waits must not delay heartbeats. */
  readonly #fetchCluster: Cluster;
  readonly #coordinatorCluster: Cluster;
  readonly #membership: Membership;
  readonly #reportRejection = throttleFailures((error, partitions) => {
    const { log, group } = this.#options;
    log.warn(
      { group, partitions, reason: describeFailure(error) },
      'assigned partitions were rejected; they are assigned again',
    );
  });
  readonly #stopController = new AbortController();
  readonly #crashController = new AbortController();
  #running: Promise<void> | undefined;
  #hasJoined = false;

  constructor(options: KafkaConsumerOptions) {
    const { driver, group, timing } = options;
    this.#options = options;
    this.#fetchCluster = new Cluster(driver);
    this.#coordinatorCluster = new Cluster({ ...driver, requestTimeout: timing.rebalanceTimeoutMs + 10_000 });
    this.#membership = new Membership(this.#coordinatorCluster, this.#fetchCluster, group, timing);
  }

  run(topics: readonly string[], onBatch: Handlers['onBatch'], events: PartitionEvents = {}): Promise<void> {
    this.#running ??= this.#run(topics, { onBatch, events: this.#suppressAfterAbandon(events) });
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#stopController.abort();
    await this.#running?.catch(() => undefined);
  }

  /** Stops without committing or leaving the group, as in a crash. */
  async abandon(): Promise<void> {
    this.#crashController.abort();
    this.#stopController.abort();
    await Promise.all([this.#fetchCluster.close(), this.#coordinatorCluster.close()]).catch(() => undefined);
  }

  /** Emits no events after abandonment, like a crash. */
  #suppressAfterAbandon(events: PartitionEvents): PartitionEvents {
    return {
      onAssigned: (partition) => events.onAssigned?.(partition),
      onRevoked: (partition) => (this.#crashController.signal.aborted ? undefined : events.onRevoked?.(partition)),
    };
  }

  async #run(topics: readonly string[], handlers: Handlers): Promise<void> {
    try {
      for (let failures = 0; !this.#stopController.signal.aborted; ) {
        try {
          await this.#runMembership(topics, handlers);
          failures = 0;
        } catch (error) {
          failures++;
          await this.#recover(error, failures);
        }
      }
    } finally {
      if (!this.#crashController.signal.aborted) {
        await this.#membership.leave().catch(() => undefined);
        await this.abandon();
      }
    }
  }

  /** Waits before the next attempt; rejects when no attempt is left. */
  async #recover(error: unknown, failures: number): Promise<void> {
    const { log, group } = this.#options;
    const canTopicAppearLater = error instanceof MissingTopicError && failures < maxMissingTopicAttempts;
    if (error instanceof FatalBusError && !canTopicAppearLater) throw error;
    // A restarting broker is normal operation; only a lasting failure is logged.
    if (failures === 3) log.warn({ group, reason: describeFailure(error) }, 'cannot join the group; trying again');
    const backOffMs = Math.min(200 * 2 ** failures, maxBackOffMs);
    await sleep(backOffMs, undefined, { signal: this.#stopController.signal }).catch(() => undefined);
  }

  /** Runs one membership, from the join until the group requires a new join or `stop` is called. */
  async #runMembership(topics: readonly string[], handlers: Handlers): Promise<void> {
    const assignment = await this.#join(topics);
    const { shared, log } = this.#options;
    const fetcher = shared.createReader(new Fetcher(this.#fetchCluster, log));
    const membershipEnd = new AbortController();
    const signal = AbortSignal.any([membershipEnd.signal, this.#stopController.signal]);
    // Every partition that waits for a retry listens to this signal, so Node's warning about many listeners is disabled.
    setMaxListeners(0, signal);
    const heartbeatStop = new AbortController();
    const heartbeats = this.#sendHeartbeats(membershipEnd, heartbeatStop.signal);
    let failure: unknown;
    try {
      const loops = await this.#createLoops(assignment, fetcher, membershipEnd, handlers);
      const running = loops.map(async (loop) => {
        try {
          await loop.run(signal);
        } catch (error) {
          if (!(error instanceof PartitionLostError)) failure ??= error;
          membershipEnd.abort();
        }
      });
      await waitForAbort(signal);
      fetcher.close();
      // Batches in progress finish before the next join, so that only one member at a time works on a moving partition.
      await Promise.race([Promise.all(running), waitForAbort(this.#crashController.signal)]);
    } finally {
      fetcher.close();
      heartbeatStop.abort();
      await heartbeats;
    }
    if (failure !== undefined) throw failure;
  }

  async #join(topics: readonly string[]): Promise<Assignment> {
    // Reports a missing topic before other members have to rebalance for it.
    await this.#fetchCluster.metadata(topics);
    if (!this.#hasJoined) await this.#options.takeover?.wait(this.#stopController.signal);
    try {
      const assignment = await this.#membership.join(topics, this.#stopController.signal);
      this.#hasJoined = true;
      return assignment;
    } catch (error) {
      if (isMembershipLost(error)) this.#membership.reset();
      throw error;
    }
  }

  async #createLoops(
    assignment: Assignment,
    fetcher: Pick<Fetcher, 'fetch'>,
    membershipEnd: AbortController,
    handlers: Handlers,
  ): Promise<PartitionLoop[]> {
    const { limits, log, takeover } = this.#options;
    const loops: PartitionLoop[] = [];
    const groupPositions = await this.#membership.positions(assignment);
    const positions = await takeover?.inheritPositions(groupPositions, ({ topic, partition, offset, metadata }) =>
      this.#membership.commit(topic, partition, offset, metadata),
    );
    for (const { topic, partition, offset, metadata } of positions ?? groupPositions) {
      const start = offset ?? (await this.#options.earliest(topic))[partition] ?? 0;
      const commit = (nextOffset: number, claim: string) =>
        this.#commit(topic, partition, nextOffset, claim, membershipEnd);
      loops.push(
        new PartitionLoop(
          { topic, partition, offset: start, claimedOffset: offset === undefined ? undefined : parseClaim(metadata) },
          { fetcher, limits, log, onAssignmentRejected: this.#reportRejection, ...handlers, commit },
        ),
      );
    }
    return loops;
  }

  /**
   * Commits, retrying while the coordinator is unavailable. It stops when the group has assigned the partition to
   * another member, or some time after `stop`; the range is then delivered again.
   */
  async #commit(
    topic: string,
    partition: number,
    offset: number,
    metadata: string,
    membershipEnd: AbortController,
  ): Promise<void> {
    for (let attempts = 0; ; attempts++) {
      if (this.#crashController.signal.aborted) throw new PartitionLostError('abandoned');
      try {
        return await this.#membership.commit(topic, partition, offset, metadata);
      } catch (error) {
        if (isMembershipLost(error)) {
          membershipEnd.abort();
          throw new PartitionLostError('the partition was reassigned to another member', { cause: error });
        }
      }
      if (this.#stopController.signal.aborted && attempts > maxCommitAttemptsAfterStop)
        throw new PartitionLostError('the coordinator is unavailable');
      await sleep(commitRetryMs);
    }
  }

  /**
   * Sends heartbeats until the signal aborts, also while batches in progress finish. Ends the membership when the
   * coordinator requires it.
   */
  async #sendHeartbeats(membershipEnd: AbortController, stopSignal: AbortSignal): Promise<void> {
    const intervalMs = Math.min(1000, this.#options.timing.sessionTimeoutMs / 4);
    while (!stopSignal.aborted) {
      await sleep(intervalMs, undefined, { signal: stopSignal }).catch(() => undefined);
      if (stopSignal.aborted) return;
      try {
        await this.#membership.heartbeat();
      } catch (error) {
        if (isProtocolError(error, 'REBALANCE_IN_PROGRESS')) membershipEnd.abort();
        if (isMembershipLost(error)) membershipEnd.abort();
      }
    }
  }
}

const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
