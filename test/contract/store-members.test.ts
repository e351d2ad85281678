/** Servers of stores that die or hang are reported by name, also in the errors of calls that need them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { createRedisCounters } from '../../adapters/counters-redis.ts';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { createStoreMembers } from '../../runtime/store-members.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import type { StoreMembers } from '../../schemas/ports/store-members.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { clusterName, startShards } from '../services/clickhouse-shards.ts';
import { hang, resume } from '../services/hanging.ts';
import { startBrokers } from '../services/kafka-cluster.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { tenantOf } from './tenants-of-shards.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-members-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

/** Members of stores, and their reports. */
const watched = () => {
  const lines: string[] = [];
  const up = new Map<string, number>();
  const log = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const storeMembers = createStoreMembers({
    log: { info: log, warn: log, error: log },
    metrics: {
      set: (_name, value, labels) => void up.set((labels as { readonly server?: string }).server ?? '', value),
    },
  });
  return { lines, up, storeMembers };
};

const nameOf = (instance: Instance): string => instance.url.replace(/^\w+:\/\//, '').replace(/\/.*$/, '');

/** Stops a server in either way; each reports it in the list, the log and the metric, until it is back. */
const endings: readonly (readonly [what: string, end: (instance: Instance) => Promise<unknown>])[] = [
  ['hangs', (instance) => hang(instance.pid)],
  ['is killed', (instance) => instance.kill()],
];

const isNamed = ({ storeMembers, lines, up }: ReturnType<typeof watched>, instance: Instance): boolean => {
  const name = nameOf(instance);
  return (
    storeMembers.listUnavailable().some((member) => member.name === name) &&
    lines.some((line) => line.startsWith('a server of a store does not respond') && line.includes(name)) &&
    up.get(name) === 0
  );
};

const namesOnly = async (
  t: ExecutionContext,
  reports: ReturnType<typeof watched>,
  instance: Instance,
): Promise<void> => {
  await eventually('it is named', () => isNamed(reports, instance));
  t.deepEqual(
    reports.storeMembers.listUnavailable().map(({ name }) => name),
    [nameOf(instance)],
  );
};

const serialIf = (service: Parameters<typeof unavailable>[0]) =>
  unavailable(service) === undefined ? test.serial : test.serial.skip;

for (const [what, end] of endings)
  serialIf('clickhouse')(
    `ClickHouse: a shard that ${what} is named, reads of its rows are refused with its name, and others are read, also after a start`,
    async (t) => {
      const shards = await startShards(2, join(directory, `clickhouse-${what.replace(' ', '-')}`));
      t.teardown(() => Promise.all(shards.map((shard) => shard.kill())));
      const open = (storeMembers: StoreMembers) =>
        openClickhouseColumns({
          urls: shards.map(({ url }) => `${url}/oiq`),
          cluster: clusterName,
          storeMembers,
        });
      const reports = watched();
      const columns = await open(reports.storeMembers);
      t.teardown(() => columns.close());
      await migrate(columns, silentLog);
      const [first, second] = shards as [Instance, Instance];
      const read = (using: typeof columns, shard: number) =>
        using.forTenant(tenantOf(shard, 2)).query('SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String}');
      await read(columns, 1);
      t.deepEqual(reports.storeMembers.listUnavailable(), []);
      await end(second);
      const waiting = read(columns, 1);
      const error = await t.throwsAsync(waiting, { instanceOf: UnavailableError });
      t.true(error?.message.includes(nameOf(second)) || what === 'is killed', error?.message);
      await namesOnly(t, reports, second);
      const refused = await t.throwsAsync(columns.query('SELECT count() FROM logs'), { instanceOf: UnavailableError });
      t.true(refused?.message.includes(`${nameOf(second)} does not answer`), refused?.message);
      t.is((await read(columns, 0)).length, 1);
      await columns.check();
      // A process that starts meanwhile.
      const later = watched();
      const started = await open(later.storeMembers);
      t.teardown(() => started.close());
      await started.check();
      t.is((await read(started, 0)).length, 1);
      await namesOnly(t, later, second);
      await started.check();
      await t.throwsAsync(read(started, 1), { message: new RegExp(nameOf(second)) });
      t.true(first.pid > 0);
      if (what !== 'hangs') return;
      resume(second.pid);
      await eventually('it responds again', () => reports.storeMembers.listUnavailable().length === 0);
      await eventually('it is read again', () =>
        read(columns, 1).then(
          () => true,
          () => false,
        ),
      );
      t.true(reports.lines.some((line) => line.startsWith('a server of a store responds again')));
      t.is(reports.up.get(nameOf(second)), 1);
    },
  );

serialIf('kafka')('Kafka: a broker of three that hangs, and one that is killed, are named', async (t) => {
  const brokers = await startBrokers(join(directory, 'kafka'));
  t.teardown(() => Promise.all(brokers.map((broker) => broker.kill())));
  const reports = watched();
  const bus = await openKafkaBus({ brokers: brokers.map(({ url }) => url), storeMembers: reports.storeMembers });
  t.teardown(() => bus.close());
  await eventually('all brokers respond', () => reports.up.size === 3);
  const [, second, third] = brokers as [Instance, Instance, Instance];
  await hang(third.pid);
  await namesOnly(t, reports, third);
  await bus.check();
  resume(third.pid);
  await eventually('it responds again', () => reports.storeMembers.listUnavailable().length === 0);
  await second.kill();
  await namesOnly(t, reports, second);
});

for (const [what, end] of endings)
  serialIf('redis')(`Redis: a server that ${what} is named`, async (t) => {
    const [port = 0] = await freePorts(1);
    const redis = await startService('redis', { port, directory: mkdtempSync(join(directory, 'redis-')) });
    t.teardown(() => redis.kill());
    const reports = watched();
    const counters = createRedisCounters({ url: `redis://127.0.0.1:${port}`, storeMembers: reports.storeMembers });
    t.teardown(() => counters.close());
    await eventually('Redis answers', () => !counters.isDegraded() && reports.up.size === 1);
    await end(redis);
    await namesOnly(t, reports, redis);
    if (what !== 'hangs') return;
    resume(redis.pid);
    await eventually('it responds again', () => reports.storeMembers.listUnavailable().length === 0);
  });

for (const [what, end] of endings)
  serialIf('mongodb')(`MongoDB: a server that ${what} is named`, async (t) => {
    const [port = 0] = await freePorts(1);
    const mongodb = await startService('mongodb', { port, directory: mkdtempSync(join(directory, 'mongodb-')) });
    t.teardown(() => mongodb.kill());
    const reports = watched();
    const documents = await openMongoDocuments({ url: mongodb.url, storeMembers: reports.storeMembers });
    t.teardown(() => documents.close());
    await documents.check();
    await eventually('MongoDB is probed', () => reports.up.size === 1);
    await end(mongodb);
    await namesOnly(t, reports, mongodb);
    if (what !== 'hangs') return;
    resume(mongodb.pid);
    await eventually('it responds again', () => reports.storeMembers.listUnavailable().length === 0);
  });
