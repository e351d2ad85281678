/** The broker that coordinates a group: discovery, requests, and the group's positions. */
import { type Connection, findCoordinatorV4, offsetFetchV8, ResponseError } from '@platformatic/kafka';
import { withTimeout } from '../../runtime/timeout.ts';
import type { Cluster, Node } from './cluster.ts';
import { rejectIfAborted, rejectIfMoved } from './deadline.ts';
import { isProtocolError } from './failures.ts';

/** Partitions by topic. */
export type Assignment = Readonly<Record<string, number[]>>;

/** The group's committed position in a partition. */
export interface Position {
  readonly topic: string;
  readonly partition: number;
  /** Next offset to consume; `undefined` when the group has no committed offset. */
  readonly offset: number | undefined;
  readonly metadata: string;
}

const groupKey = 0;
export const responseTimeoutMs = 10_000;
/** How often a waiting request checks whether the coordinator has changed. */
const checkIntervalMs = 3000;

export class Coordinator {
  readonly #cluster: Cluster;
  readonly #anyBroker: Cluster;
  readonly #group: string;
  #node: Node | undefined;

  /** Requests of the group may wait long, so they use `cluster`. Requests that any broker can handle use `directory`. */
  constructor(cluster: Cluster, directory: Cluster, group: string) {
    this.#cluster = cluster;
    this.#anyBroker = directory;
    this.#group = group;
  }

  /**
   * Sends a request to the coordinator. After any failure that may mean that the coordinator moved, looks it up again.
   */
  async request<Answer>(
    request: (connection: Connection) => Promise<Answer>,
    timeoutMs = responseTimeoutMs,
    stopping?: AbortSignal,
  ): Promise<Answer> {
    let connection: Connection | undefined;
    try {
      this.#node ??= await this.#findCoordinator();
      const node = this.#node;
      connection = await this.#cluster.connectToNode(node);
      const response = withTimeout(timeoutMs, request(connection));
      const watchedResponse = rejectIfMoved(response, checkIntervalMs, async () => {
        const { host, port } = await this.#findCoordinator();
        return host !== node.host || port !== node.port;
      });
      return await (stopping === undefined ? watchedResponse : rejectIfAborted(watchedResponse, stopping));
    } catch (error) {
      const isCoordinatorResponse = isProtocolError(
        error,
        'REBALANCE_IN_PROGRESS',
        'UNKNOWN_MEMBER_ID',
        'ILLEGAL_GENERATION',
        'MEMBER_ID_REQUIRED',
      );
      if (!isCoordinatorResponse) {
        this.#node = undefined;
        // A broker that hangs would block every later request on this connection.
        if (connection !== undefined && !(error instanceof ResponseError)) connection.socket.destroy();
      }
      throw error;
    }
  }

  /** Returns the group's committed positions in these partitions. */
  async positions(partitions: Assignment): Promise<Position[]> {
    const topics = Object.entries(partitions).map(([name, partitionIndexes]) => ({ name, partitionIndexes }));
    if (topics.length === 0) return [];
    const { groups } = await this.request((connection) =>
      offsetFetchV8.api.async(connection, [{ groupId: this.#group, memberId: null, memberEpoch: -1, topics }], true),
    );
    return groups.flatMap((group) =>
      group.topics.flatMap(({ name, partitions: fetchedPartitions }) =>
        fetchedPartitions.map(({ partitionIndex, committedOffset, metadata }) => ({
          topic: name,
          partition: partitionIndex,
          offset: committedOffset < 0n ? undefined : Number(committedOffset),
          metadata: metadata ?? '',
        })),
      ),
    );
  }

  async #findCoordinator(): Promise<Node> {
    const { coordinators } = await this.#anyBroker.requestAny((connection) =>
      findCoordinatorV4.api.async(connection, groupKey, [this.#group]),
    );
    const [coordinator] = coordinators;
    if (coordinator === undefined) throw new Error(`Kafka returned no coordinator for group ${this.#group}`);
    return coordinator;
  }
}
