/**
 * One member of a consumer group: joins, assigns partitions when it is the leader, sends heartbeats, commits, leaves.
 */
import {
  heartbeatV4,
  joinGroupV9,
  leaveGroupV5,
  offsetCommitV8,
  type ResponseError,
  syncGroupV5,
} from '@platformatic/kafka';
import kafkajs from 'kafkajs';
import type { Cluster } from './cluster.ts';
import { type Assignment, Coordinator, type Position, responseTimeoutMs } from './coordinator.ts';
import { isProtocolError } from './failures.ts';

const { MemberMetadata, MemberAssignment } = kafkajs.AssignerProtocol;

export interface GroupTiming {
  /** A member without a heartbeat for this long counts as dead. */
  readonly sessionTimeoutMs: number;
  /** How long a rebalance waits for the members' batches in progress. */
  readonly rebalanceTimeoutMs: number;
}

const protocolType = 'consumer';
const protocolName = 'oiq-round-robin';

/** Assigns the partitions of all topics to the subscribed members, round robin in the order of member ids. */
export const assignPartitions = (
  topics: ReadonlyMap<string, number>,
  members: readonly { readonly memberId: string; readonly topics: readonly string[] }[],
): Map<string, Record<string, number[]>> => {
  const sortedMembers = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const assignments = new Map<string, Record<string, number[]>>(sortedMembers.map(({ memberId }) => [memberId, {}]));
  let nextSubscriber = 0;
  for (const topic of [...topics.keys()].sort()) {
    const subscribers = sortedMembers.filter((member) => member.topics.includes(topic));
    for (let partition = 0; subscribers.length > 0 && partition < (topics.get(topic) ?? 0); partition++) {
      const assignment = assignments.get(subscribers[nextSubscriber++ % subscribers.length]?.memberId ?? '') ?? {};
      assignment[topic] = [...(assignment[topic] ?? []), partition];
    }
  }
  return assignments;
};

export class Membership {
  readonly #coordinator: Coordinator;
  readonly #anyBroker: Cluster;
  readonly #group: string;
  readonly #timing: GroupTiming;
  #memberId = '';
  #generation = -1;

  /** Requests of the group may wait long, so they use `cluster`. Requests that any broker can handle use `directory`. */
  constructor(cluster: Cluster, directory: Cluster, group: string, timing: GroupTiming) {
    this.#coordinator = new Coordinator(cluster, directory, group);
    this.#anyBroker = directory;
    this.#group = group;
    this.#timing = timing;
  }

  /**
   * Joins or rejoins the group, and returns this member's partitions. Waits for the other members to join too, which
   * takes as long as their batches in progress. Rejects when `stopping` aborts.
   */
  async join(topics: readonly string[], stopping: AbortSignal): Promise<Assignment> {
    const joinResponse = await this.#joinGroup(topics, stopping);
    this.#memberId = joinResponse.memberId;
    this.#generation = joinResponse.generationId;
    const isLeader = joinResponse.leader === joinResponse.memberId;
    const assignments = isLeader ? await this.#assignMembers(joinResponse.members) : [];
    const { assignment } = await this.#coordinator.request(
      (connection) =>
        syncGroupV5.api.async(
          connection,
          this.#group,
          this.#generation,
          this.#memberId,
          null,
          protocolType,
          protocolName,
          assignments,
        ),
      this.#timing.rebalanceTimeoutMs + responseTimeoutMs,
      stopping,
    );
    return MemberAssignment.decode(assignment)?.assignment ?? {};
  }

  async #joinGroup(topics: readonly string[], stopping: AbortSignal) {
    const { sessionTimeoutMs, rebalanceTimeoutMs } = this.#timing;
    const protocols = [{ name: protocolName, metadata: MemberMetadata.encode(toSubscription(topics)) }];
    const requestJoin = () =>
      this.#coordinator.request(
        (connection) =>
          joinGroupV9.api.async(
            connection,
            this.#group,
            sessionTimeoutMs,
            rebalanceTimeoutMs,
            this.#memberId,
            null,
            protocolType,
            protocols,
          ),
        rebalanceTimeoutMs + responseTimeoutMs,
        stopping,
      );
    try {
      return await requestJoin();
    } catch (error) {
      // A new member first receives its id and must join again with it.
      if (!isProtocolError(error, 'MEMBER_ID_REQUIRED')) throw error;
      this.#memberId = ((error as ResponseError)['response'] as { memberId: string }).memberId;
      return requestJoin();
    }
  }

  async #assignMembers(
    members: readonly { readonly memberId: string; readonly metadata: Buffer }[],
  ): Promise<{ memberId: string; assignment: Buffer }[]> {
    const subscriptions = members.map(({ memberId, metadata }) => ({
      memberId,
      topics: MemberMetadata.decode(metadata)?.topics ?? [],
    }));
    const names = [...new Set(subscriptions.flatMap(({ topics }) => topics))];
    const metadata = await this.#anyBroker.metadata(names, true);
    const counts = new Map(names.map((name) => [name, metadata.topics.get(name)?.leaders.length ?? 0]));
    return [...assignPartitions(counts, subscriptions)].map(([memberId, assignment]) => ({
      memberId,
      assignment: MemberAssignment.encode({ version: 0, assignment, userData: Buffer.alloc(0) }),
    }));
  }

  /** Sends a heartbeat. Rejects with the protocol's REBALANCE_IN_PROGRESS, UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION. */
  async heartbeat(): Promise<void> {
    await this.#coordinator.request((connection) =>
      heartbeatV4.api.async(connection, this.#group, this.#generation, this.#memberId, null),
    );
  }

  /** The group's positions in the assigned partitions. */
  positions(assignment: Assignment): Promise<Position[]> {
    return this.#coordinator.positions(assignment);
  }

  async commit(topic: string, partition: number, offset: number, metadata: string): Promise<void> {
    await this.#coordinator.request((connection) =>
      offsetCommitV8.api.async(connection, this.#group, this.#generation, this.#memberId, null, [
        {
          name: topic,
          partitions: [
            {
              partitionIndex: partition,
              committedOffset: BigInt(offset),
              committedLeaderEpoch: -1,
              committedMetadata: metadata,
            },
          ],
        },
      ]),
    );
  }

  /** Resets the member id after the group has removed this member; the next join is that of a new member. */
  reset(): void {
    this.#memberId = '';
    this.#generation = -1;
  }

  async leave(): Promise<void> {
    if (this.#memberId === '') return;
    const members = [{ memberId: this.#memberId, groupInstanceId: null, reason: 'stopped' }];
    await this.#coordinator.request((connection) => leaveGroupV5.api.async(connection, this.#group, members));
    this.reset();
  }
}

const toSubscription = (topics: readonly string[]) => ({
  version: 0,
  topics: [...topics],
  userData: Buffer.alloc(0),
});
