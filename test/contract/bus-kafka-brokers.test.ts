/** The bus on a cluster of three brokers: brokers die, hang and transfer leadership. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Kafka, logLevel } from 'kafkajs';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { buildDriverOptions, Cluster } from '../../adapters/bus-kafka/cluster.ts';
import { Fetcher } from '../../adapters/bus-kafka/fetcher.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { computePartition } from '../../schemas/partition.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import type { Topic } from '../../schemas/topic.ts';
import { leadersAt, startBrokers } from '../services/kafka-cluster.ts';
import { type Instance, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { consume, keysOf, messageTo, someGroup, someTopic } from './bus-harness.ts';

const serial = unavailable('kafka') === undefined ? test.serial : test.serial.skip;

let directory: string;
let servers: readonly Instance[] = [];

test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oiq-brokers-'));
  if (unavailable('kafka') === undefined) servers = await startBrokers(directory);
});
test.after.always(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** A bus whose first bootstrap broker is the given broker. */
const open = async (t: ExecutionContext, first = 0): Promise<Bus> => {
  const urls = servers.map(({ url }) => url);
  const brokers = [...urls.slice(first), ...urls.slice(0, first)];
  const bus = await openKafkaBus({ brokers, sessionTimeoutMs: 6000 });
  t.teardown(() => bus.close());
  return bus;
};

const administer = async (t: ExecutionContext) => {
  const admin = new Kafka({ brokers: servers.map(({ url }) => url), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  t.teardown(() => admin.disconnect());
  const partitionsOf = async (topic: Topic) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic.name] });
    return (topics[0]?.partitions ?? []).toSorted((a, b) => a.partitionId - b.partitionId);
  };
  return { admin, partitionsOf };
};

/** The broker with the given node ID. */
const brokerOf = (node: number): Instance => {
  const server = servers[node - 1];
  if (server === undefined) throw new Error(`there is no broker ${node}`);
  return server;
};

/** Publishes each message once to every partition until `stop`, and records which messages were acknowledged. */
const publishing = async (t: ExecutionContext, bus: Bus, topic: Topic) => {
  const producer = await bus.producer();
  const acknowledged: string[] = [];
  let count = 0;
  let running = true;
  const publish = async (key: string): Promise<void> => {
    while (running) {
      const text = `${key} ${count++}`;
      await producer.publish([messageTo(topic, text, { key })]).then(
        () => acknowledged.push(text),
        (error) => {
          if (!(error instanceof UnavailableError)) throw error;
        },
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const done = Promise.all(keysOf(topic.partitions, computePartition).map(publish));
  const stop = async (): Promise<void> => {
    running = false;
    await done;
  };
  t.teardown(stop);
  return { acknowledged, stop };
};

/** Every acknowledged message was delivered, and no message twice. */
const judge = (t: ExecutionContext, acknowledged: readonly string[], texts: readonly string[]): void => {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  t.deepEqual(
    acknowledged.filter((text) => !counts.has(text)),
    [],
    'lost',
  );
  t.deepEqual(
    [...counts].filter(([, times]) => times > 1),
    [],
    'doubled',
  );
};

serial('topics have a replica on each of three brokers and require two for a write, by default', async (t) => {
  const bus = await open(t);
  const topic = someTopic();
  await bus.ensureTopics([topic]);
  const { admin, partitionsOf } = await administer(t);
  t.is((await partitionsOf(topic))[0]?.replicas.length, 3);
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: 2, name: topic.name, configNames: ['min.insync.replicas'] }],
  });
  t.is(resources[0]?.configEntries[0]?.configValue, '2');
});

/** Records the nodes from which the bus fetches. */
class WatchedCluster extends Cluster {
  readonly fetchedFrom: number[] = [];

  override directConnection(...args: Parameters<Cluster['directConnection']>) {
    this.fetchedFrom.push(args[1]);
    return super.directConnection(...args);
  }
}

serial(
  'with a rack, records are fetched from the replica there; while that replica is down, from the leader',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic({ partitions: 1 });
    await bus.ensureTopics([topic]);
    const [leader = 0] = await leadersAt(brokerOf(1), topic.name);
    const near = (leader % 3) + 1;
    const cluster = new WatchedCluster(
      buildDriverOptions(
        servers.map(({ url }) => url),
        'test',
        { rack: `rack-${near}` },
      ),
    );
    const fetcher = new Fetcher(cluster, silentLog);
    t.teardown(async () => {
      fetcher.close();
      await cluster.close();
    });
    const producer = await bus.producer();
    let next = 0;
    /** Publishes texts and reads them; each is delivered once, in order. */
    const through = async (...texts: readonly string[]): Promise<void> => {
      await eventually('it is acknowledged', async () => {
        try {
          await producer.publish(texts.map((text) => messageTo(topic, text)));
          return true;
        } catch {
          return false;
        }
      });
      const read: string[] = [];
      while (read.at(-1) !== texts.at(-1)) {
        const piece = await fetcher.fetch(topic.name, 0, next);
        if (piece === undefined) break;
        read.push(...piece.records.map(({ record }) => String(record.value)));
        next = piece.next;
        piece.release();
      }
      t.deepEqual([...new Set(read)], texts);
    };
    await through('first', 'second');
    t.is(cluster.fetchedFrom[0], leader);
    cluster.fetchedFrom.length = 0;
    for (let round = 0; round < 5; round++) await through(`near ${round}`);
    t.deepEqual([...new Set(cluster.fetchedFrom)], [near]);
    await brokerOf(near).kill();
    await through('without it', 'still');
    cluster.fetchedFrom.length = 0;
    await through('from the leader');
    t.true(cluster.fetchedFrom.includes(leader));
    await brokerOf(near).start();
  },
);

serial(
  'a partition whose leader moved to another broker is read on, even while its former leader still leads others',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic({ partitions: 6 });
    await bus.ensureTopics([topic]);
    const { admin, partitionsOf } = await administer(t);
    const consuming = consume(bus, [topic], { group: someGroup() });
    const producer = await bus.producer();
    const keys = keysOf(6, computePartition);
    await producer.publish(keys.map((key) => messageTo(topic, key, { key })));
    await eventually('what was there before', () => consuming.texts.length === 6);
    const before = await partitionsOf(topic);
    const moving = before.find(({ leader }) => before.filter((other) => other.leader === leader).length > 1);
    t.truthy(moving, 'one broker leads two partitions');
    const { partitionId: partition = 0, leader = 0, replicas = [] } = moving ?? {};
    await admin.alterPartitionReassignments({
      topics: [
        {
          topic: topic.name,
          partitionAssignment: [{ partition, replicas: replicas.filter((node) => node !== leader) }],
        },
      ],
    });
    await eventually('another leader', async () => (await partitionsOf(topic))[partition]?.leader !== leader);
    await producer.publish([messageTo(topic, 'after', { key: keys[partition] ?? '' })]);
    await eventually('what came after', () => consuming.texts.includes('after'));
    await consuming.stop();
  },
);

serial(
  'a broker that hangs is bypassed, even if it is the first bootstrap broker, a leader and a coordinator',
  async (t) => {
    const group = someGroup();
    const topic = someTopic({ partitions: 3 });
    const setUp = await open(t);
    await setUp.ensureTopics([topic]);
    const hanging = (await leadersAt(brokerOf(1), topic.name))[0] ?? 1;
    const bus = await open(t, hanging - 1);
    const load = await publishing(t, bus, topic);
    const consuming = consume(bus, [topic], { group });
    await eventually('something of each partition', () => consuming.texts.length > 10);
    await brokerOf(hanging).hang();
    try {
      const other = brokerOf((hanging % servers.length) + 1);
      await eventually('other leaders', async () => {
        const leaders = await leadersAt(other, topic.name);
        return leaders.every((leader) => leader !== hanging && leader > 0);
      });
      const [published, consumed] = [load.acknowledged.length, consuming.texts.length];
      await eventually('acknowledgements while it hangs', () => load.acknowledged.length > published + 20);
      await eventually('consuming while it hangs', () => consuming.texts.length > consumed + 20);
      await t.notThrowsAsync(bus.check());
      // The first broker that a new process connects to is the one that hangs.
      const late = await open(t, hanging - 1);
      await (await late.producer()).publish([messageTo(topic, 'late')]);
    } finally {
      brokerOf(hanging).resume();
    }
    await load.stop();
    await eventually('the rest', () => load.acknowledged.every((text) => consuming.texts.includes(text)));
    await consuming.stop();
    judge(t, load.acknowledged, consuming.texts);
  },
);

serial('a broker that hangs blocks only the partitions that no other broker has', async (t) => {
  const bus = await openKafkaBus({ brokers: servers.map(({ url }) => url), replication: 1 });
  t.teardown(() => bus.close());
  let topic = someTopic({ partitions: 3 });
  let leaders: number[] = [];
  // Kafka chooses the leaders: on a busy machine, two brokers led all three partitions.
  await eventually('a topic of which each broker leads a partition', async () => {
    topic = someTopic({ partitions: 3 });
    await bus.ensureTopics([topic]);
    leaders = await leadersAt(brokerOf(1), topic.name);
    return new Set(leaders).size === 3;
  });
  const keys = keysOf(3, computePartition);
  const producer = await bus.producer();
  await producer.publish(keys.map((key) => messageTo(topic, 'before', { key })));
  const [held = '', ...others] = keys;
  const hanging = brokerOf(leaders[0] ?? 1);
  await hanging.hang();
  try {
    let isHeld = true;
    const waiting = producer.publish([messageTo(topic, 'held up', { key: held })]).finally(() => {
      isHeld = false;
    });
    waiting.catch(() => undefined);
    for (const key of others) await producer.publish([messageTo(topic, 'meanwhile', { key })]);
    t.true(isHeld, 'the others were acknowledged while one was not');
  } finally {
    hanging.resume();
  }
});

serial(
  'when leaders are killed, one and then too many, nothing is lost or duplicated, and work resumes without manual intervention',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic({ partitions: 3 });
    await bus.ensureTopics([topic]);
    const load = await publishing(t, bus, topic);
    const members = [await open(t, 1), await open(t, 2)];
    const group = someGroup();
    const consuming = members.map((member) => consume(member, [topic], { group }));
    const texts = (): string[] => consuming.flatMap((each) => each.texts);
    await eventually('something', () => texts().length > 10);

    const [first, second] = [brokerOf(1), brokerOf(2)];
    await first.kill();
    const { length: whenKilled } = load.acknowledged;
    await eventually('acknowledgements with two brokers', () => load.acknowledged.length > whenKilled + 20);
    await second.kill();
    await eventually('word that nothing is acknowledged', async () => {
      const response = await bus.check().then(() => 'ready', String);
      return /did not acknowledge/.test(response);
    });
    const { length: whenStopped } = load.acknowledged;
    await Promise.all([first.start(), second.start()]);
    await eventually('acknowledgements again', () => load.acknowledged.length > whenStopped + 20);
    await eventually('readiness again', () =>
      bus.check().then(
        () => true,
        () => false,
      ),
    );
    await load.stop();
    await eventually('the rest', () => {
      const there = new Set(texts());
      return load.acknowledged.every((text) => there.has(text));
    });
    await Promise.all(consuming.map((each) => each.stop()));
    judge(t, load.acknowledged, texts());
  },
);
