/** What a start promises when a part of it fails. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { segmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { chdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { memoryCounters } from '../../adapters/counters-memory.ts';
import { sqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { fileMailer } from '../../adapters/mail-file.ts';
import { metricsProvider } from '../../adapters/own-telemetry/metrics.ts';
import { socketPath } from '../../commands/control.ts';
import type { Platform } from '../../commands/platform.ts';
import { start } from '../../commands/start.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silent } from '../../schemas/ports/log.ts';
import { settingsOf } from '../../schemas/settings.ts';

/** Everything embedded, on a bus that a test may change. */
const platformOf = async (t: ExecutionContext, change: (bus: Bus) => Bus) => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-start-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const ends: string[] = [];
  const bus = await segmentsBus({ directory: join(directory, 'bus') });
  const columns = await chdbColumns({ directory: join(directory, 'columns') });
  const documents = await sqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const platform: Platform = {
    settings: settingsOf({
      OIQ_DATA_DIR: directory,
      OIQ_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_SHUTDOWN_SECONDS: '600',
    }),
    log: { ...silent, info: (_fields, message) => ends.push(message), close: async () => undefined },
    metrics: await metricsProvider(undefined, 'test'),
    clock: systemClock,
    bus: change(bus),
    columns,
    documents,
    counters: memoryCounters({}),
    mailer: await fileMailer({ path: join(directory, 'outbox.jsonl') }),
    embedded: true,
    async close() {
      await bus.close();
      await columns.close();
      await documents.close();
      ends.push('platform closed');
    },
  };
  return { platform, ends };
};

test.serial(
  'a consumer group that fails before the start is complete fails the start, and what had started is stopped',
  async (t) => {
    const { platform, ends } = await platformOf(t, (bus) => ({
      ...{ ensureTopics: (topics) => bus.ensureTopics(topics), producer: () => bus.producer() },
      ...{ offsets: (topic) => bus.offsets(topic), lag: (group, topics) => bus.lag(group, topics) },
      members: (groups) => bus.members(groups),
      ...{ check: () => bus.check(), close: () => bus.close(), forget: (group) => bus.forget(group) },
      read: (topic, partition, from, to) => bus.read(topic, partition, from, to),
      follower: () => bus.follower(),
      consumer: (options) => {
        const consumer = bus.consumer(options);
        if (!options.group.endsWith('logs')) return consumer;
        return {
          ...consumer,
          run: async () => {
            throw new Error('otlp.logs/0: offset 3 is no longer kept');
          },
        };
      },
    }));
    await t.throwsAsync(start(platform, { names: [], components: [], plans: {}, onFirstStart() {} }), {
      message: 'otlp.logs/0: offset 3 is no longer kept',
    });
    t.deepEqual(ends.slice(-2), ['stopped', 'platform closed']);
  },
);

test.serial('commands reach an instance before its main address can say that it is ready', async (t) => {
  const { platform } = await platformOf(t, (bus) => bus);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  // The socket is there while the roles stop that had started.
  const socketThere: boolean[] = [];
  const log = {
    ...platform.log,
    info: () => void socketThere.push(existsSync(socketPath(platform.settings.DATA_DIR))),
  };
  const settings = { ...platform.settings, HTTP_ADDRESS: address };
  await t.throwsAsync(
    start({ ...platform, settings, log }, { names: [], components: [], plans: {}, onFirstStart() {} }),
    { message: /another program listens there/ },
  );
  t.true(socketThere.includes(true));
});
