/** Topics, groups, offsets and lag. Rare requests use the admin client of `kafkajs`; frequent requests do not. */
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { getFormerGroup } from '../../runtime/consumer-groups.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { Lag } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Topic } from '../../schemas/topic.ts';
import type { Bounds, Cluster } from './cluster.ts';
import { Coordinator, type Position } from './coordinator.ts';
import { MissingTopicError, toFailure } from './failures.ts';
import { headerAllowance } from './wire.ts';

const { ConfigResourceTypes } = kafkajs;

/** Default replication factor. With this many replicas, a write needs two of them. */
const defaultReplicationFactor = 3;
const hourMs = 3_600_000;
const mebibyte = 1024 * 1024;
const timeoutMs = 10_000;
/**
 * The admin client disconnects after this long without a request. An idle connection of `kafkajs` wakes the process
 * each millisecond.
 */
const idleMs = 1000;
const requestTimeoutMs = 5000;
const retryMs = 200;

/** Small enough that retention, which deletes whole segments, stays close to the declared limit. */
const computeSegmentBytes = ({ retentionBytes }: Topic): number =>
  Math.min(512 * mebibyte, Math.max(mebibyte, Math.floor(retentionBytes / 16)));

const segmentAgeSetting = 'segment.ms';
const segmentsPerRetention = 8;

/** The size and retention limits of a topic, by the name of the Kafka setting. */
const buildTopicLimits = (topic: Topic): ReadonlyMap<string, number> =>
  new Map([
    ['retention.ms', Math.round(topic.retentionHours * hourMs)],
    // Whole segments expire, and only once they get no more records.
    [segmentAgeSetting, Math.max(hourMs, Math.round((topic.retentionHours * hourMs) / segmentsPerRetention))],
    ['retention.bytes', topic.retentionBytes],
    ['max.message.bytes', topic.maxMessageBytes + headerAllowance],
  ]);

const buildTopicConfig = (topic: Topic, copies: number) => ({
  topic: topic.name,
  numPartitions: topic.partitions,
  replicationFactor: copies,
  configEntries: [
    ...[...buildTopicLimits(topic)].map(([name, value]) => ({ name, value: String(value) })),
    { name: 'segment.bytes', value: String(computeSegmentBytes(topic)) },
    ...(copies >= defaultReplicationFactor ? [{ name: 'min.insync.replicas', value: '2' }] : []),
  ],
});

const getDefaultReplicationFactor = async (admin: Admin): Promise<number> =>
  Math.min(defaultReplicationFactor, (await admin.describeCluster()).brokers.length);

const toPartitionKey = (topic: string, partition: number): string => `${topic}/${partition}`;

/** The last position of each partition; positions without an offset are omitted. */
export const indexPositions = (positions: readonly Position[]): Map<string, Position> =>
  new Map(
    positions
      .filter(({ offset }) => offset !== undefined)
      .map((position) => [toPartitionKey(position.topic, position.partition), position]),
  );

export interface AdministrationOptions {
  /** Replication factor of created topics. Defaults to 3, or to the number of brokers if there are fewer. */
  readonly replication: number | undefined;
  readonly log: Log;
}

export class Administration {
  readonly #admin: Admin;
  readonly #options: AdministrationOptions;
  readonly #cluster: Cluster;
  readonly #coordinators = new Map<string, Coordinator>();
  readonly #pendingOffsets = new Map<string, Promise<Bounds[]>>();
  #connecting: Promise<void> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #activeRequests = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(kafka: Kafka, cluster: Cluster, options: AdministrationOptions) {
    this.#admin = kafka.admin();
    this.#cluster = cluster;
    this.#options = options;
  }

  /** Retries while Kafka cannot complete the request yet, for example during a leader election or while a coordinator loads. */
  async #request<Answer>(request: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    clearTimeout(this.#idle);
    this.#activeRequests++;
    try {
      return await this.#retryUntilAnswered(request);
    } finally {
      this.#activeRequests--;
      clearTimeout(this.#idle);
      if (this.#activeRequests === 0) this.#idle = setTimeout(() => void this.close(), idleMs).unref();
    }
  }

  async #retryUntilAnswered<Answer>(request: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    for (const deadline = Date.now() + timeoutMs; ; ) {
      try {
        return await request(await this.#connect());
      } catch (cause) {
        const { name, type, retriable } = cause as { name?: string; type?: string; retriable?: boolean };
        if (type === 'UNKNOWN_TOPIC_OR_PARTITION')
          throw new MissingTopicError('the topic does not exist in Kafka: create the topics first (oiq migrate)', {
            cause,
          });
        if (!(cause instanceof Error) || !('retriable' in cause)) throw cause;
        const isTransient = retriable === true || name === 'KafkaJSGroupCoordinatorNotFound';
        if (!isTransient || Date.now() > deadline) throw toFailure('Kafka did not complete the request', cause);
      }
      await sleep(retryMs);
    }
  }

  async #connect(): Promise<Admin> {
    this.#connecting ??= this.#closing
      .then(() => this.#admin.connect())
      .catch((error: unknown) => {
        this.#connecting = undefined;
        throw error;
      });
    await this.#connecting;
    return this.#admin;
  }

  async ensureTopics(topics: readonly Topic[]): Promise<void> {
    const existingNames = new Set(await this.#request((admin) => admin.listTopics()));
    const replicationFactor = this.#options.replication ?? (await this.#request(getDefaultReplicationFactor));
    const missingTopics = topics
      .filter(({ name }) => !existingNames.has(name))
      .map((topic) => buildTopicConfig(topic, replicationFactor));
    // Another process may create the same topics at this moment; that is not an error.
    if (missingTopics.length > 0)
      await this.#request((admin) => admin.createTopics({ waitForLeaders: false, topics: missingTopics }));
    const existingTopics = topics.filter(({ name }) => existingNames.has(name));
    const topicsWithNewPartitions =
      existingTopics.length > 0
        ? await this.#request((admin) => this.#raiseLimits(admin, existingTopics, replicationFactor))
        : [];
    const changed = new Set([...missingTopics, ...topicsWithNewPartitions].map(({ topic }) => topic));
    await this.#awaitLeaders(topics.filter(({ name }) => changed.has(name)));
  }

  /**
   * Waits for leaders. Brokers learn of new topics and partitions with a delay; a topic is usable once every partition
   * has a leader.
   */
  async #awaitLeaders(changedTopics: readonly Topic[]): Promise<void> {
    const names = changedTopics.map(({ name }) => name);
    const counts = new Map(changedTopics.map(({ name, partitions }) => [name, partitions]));
    const deadline = Date.now() + 3 * timeoutMs;
    for (let isWaiting = names.length > 0; isWaiting; ) {
      const { topics } = await this.#request((admin) => admin.fetchTopicMetadata({ topics: names })).catch((error) => {
        if (error instanceof MissingTopicError) return { topics: [] };
        throw error;
      });
      const usableTopics = topics.filter(
        ({ name, partitions }) =>
          partitions.length >= (counts.get(name) ?? 0) && partitions.every(({ leader }) => leader >= 0),
      );
      isWaiting = usableTopics.length < names.length;
      if (isWaiting && Date.now() > deadline)
        throw new UnavailableError(`Kafka elected no leader for some partitions of ${names.join(', ')}`);
      if (isWaiting) await sleep(retryMs);
    }
  }

  /**
   * Raises the partition counts and limits of existing topics; higher existing limits stay. Returns the topics with new
   * partitions.
   */
  async #raiseLimits(admin: Admin, topics: readonly Topic[], copies: number): Promise<{ topic: string }[]> {
    const { topics: topicMetadata } = await admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) });
    for (const { name, partitions } of topicMetadata) {
      const minReplicas = Math.min(...partitions.map(({ replicas }) => replicas.length));
      if (minReplicas < copies)
        this.#options.log.warn(
          { topic: name, replicas: minReplicas, required: copies },
          'a topic has fewer replicas than new topics get; reassign its partitions to add replicas',
        );
    }
    const counts = new Map(topicMetadata.map(({ name, partitions }) => [name, partitions.length]));
    const topicPartitions = topics
      .filter(({ name, partitions }) => (counts.get(name) ?? 0) < partitions)
      .map(({ name, partitions }) => ({ topic: name, count: partitions }));
    if (topicPartitions.length > 0) await admin.createPartitions({ topicPartitions });

    const settings = await this.#fetchSettings(
      admin,
      topics.map(({ name }) => name),
    );
    for (const topic of topics) {
      const current = settings.get(topic.name) ?? new Map<string, string>();
      const raisedLimits = [...buildTopicLimits(topic)].filter(([name, value]) =>
        name === segmentAgeSetting ? !current.has(name) : isLower(current.get(name), value),
      );
      if (raisedLimits.length === 0) continue;
      for (const [name, value] of raisedLimits) current.set(name, String(value));
      // This request replaces all settings of a topic, so it repeats the unchanged ones.
      const configEntries = [...current].map(([name, value]) => ({ name, value }));
      await admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: topic.name, configEntries }],
      });
    }
    return topicPartitions;
  }

  /** Settings that are set on the topics themselves. */
  async #fetchSettings(admin: Admin, topics: readonly string[]): Promise<Map<string, Map<string, string>>> {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({ type: ConfigResourceTypes.TOPIC, name })),
    });
    const topicConfigSource = 1;
    return new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName,
        new Map(
          configEntries
            .filter(({ configSource }) => Number(configSource) === topicConfigSource)
            .map(({ configName, configValue }) => [configName, configValue]),
        ),
      ]),
    );
  }

  async offsets(topic: string): Promise<Bounds[]> {
    return this.#retryUntilDeadline(() => this.#cluster.bounds(topic));
  }

  /** Offsets for the lag. Concurrent callers share a request: many groups read the same topics. */
  #sharedOffsets(topic: string): Promise<Bounds[]> {
    const pending = this.#pendingOffsets.get(topic);
    if (pending !== undefined) return pending;
    const offsets = this.offsets(topic).finally(() => this.#pendingOffsets.delete(topic));
    this.#pendingOffsets.set(topic, offsets);
    return offsets;
  }

  /** Committed positions of a group, which may no longer run. */
  async positions(group: string, topics: readonly string[]): Promise<Position[]> {
    const coordinator = this.#coordinators.get(group) ?? new Coordinator(this.#cluster, this.#cluster, group);
    this.#coordinators.set(group, coordinator);
    return this.#retryUntilDeadline(async () => {
      const metadata = await this.#cluster.metadata(topics);
      const partitions = topics.map((topic) => [topic, [...(metadata.topics.get(topic)?.leaders.keys() ?? [])]]);
      return coordinator.positions(Object.fromEntries(partitions));
    });
  }

  /** Retries for a while, for example during a leader election or when a coordinator moves. */
  async #retryUntilDeadline<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    for (const deadline = performance.now() + requestTimeoutMs; ; ) {
      try {
        return await request();
      } catch (cause) {
        if (cause instanceof MissingTopicError) throw cause;
        if (performance.now() > deadline) throw toFailure('Kafka did not complete the request', cause);
      }
      await sleep(retryMs);
    }
  }

  async members(names: readonly string[]): Promise<Map<string, number>> {
    const { groups } = await this.#request((admin) => admin.describeGroups([...names]));
    return new Map(groups.map(({ groupId, members }) => [groupId, members.length]));
  }

  async hasMembers(group: string): Promise<boolean> {
    return ((await this.members([group])).get(group) ?? 0) > 0;
  }

  /**
   * Returns the lag of the group. For a group without positions that replaces a former group, it is the lag of the
   * former group.
   */
  async lag(group: string, topics: readonly string[]): Promise<Lag[]> {
    const groupPositions = await this.positions(group, topics);
    const formerGroup = groupPositions.some(({ offset }) => offset === undefined) ? getFormerGroup(group) : undefined;
    const nextPositions = indexPositions([
      ...(formerGroup === undefined ? [] : await this.positions(formerGroup, topics)),
      ...groupPositions,
    ]);
    const lags: Lag[] = [];
    for (const topic of topics)
      for (const { partition, earliest, end } of await this.#sharedOffsets(topic)) {
        const committed = nextPositions.get(toPartitionKey(topic, partition))?.offset ?? earliest;
        lags.push({ topic, partition, committed, end, lag: Math.max(0, end - committed) });
      }
    return lags;
  }

  async forget(group: string): Promise<void> {
    try {
      await this.#request((admin) => admin.deleteGroups([group]));
    } catch (error) {
      throw toRejectionError(group, error) ?? error;
    }
  }

  /** Disconnects. The next request connects again. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    if (this.#connecting === undefined) return;
    this.#connecting = undefined;
    this.#closing = this.#admin.disconnect().catch(() => undefined);
    await this.#closing;
  }
}

/** Reasons why Kafka does not delete a group, by error code. */
const rejections: Readonly<Record<number, readonly [reason: string, why: string]>> = {
  68: ['group-in-use', 'has members: stop them first'],
  69: ['unknown-group', 'is not known'],
};

const toRejectionError = (group: string, error: unknown): PermanentError | undefined => {
  const cause = error instanceof UnavailableError ? error.cause : error;
  const code = (cause as { groups?: readonly { errorCode?: number }[] }).groups?.[0]?.errorCode;
  const rejection = code === undefined ? undefined : rejections[code];
  return rejection && new PermanentError(rejection[0], `group ${group} ${rejection[1]}`, { cause });
};

/** Whether a setting is below the declared value; -1 means unlimited, and an unset setting has the broker's default. */
const isLower = (current: string | undefined, declared: number): boolean => {
  if (current === undefined) return true;
  const value = Number(current);
  return value >= 0 && value < declared;
};
