/** How a start behaves when a part of it fails. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { createMetricsProvider } from '../../adapters/own-telemetry/metrics.ts';
import { createPasswords } from '../../api/identity/password.ts';
import { type FirstStartSecrets, initializeInstallation } from '../../api/index.ts';
import { getSocketPath } from '../../commands/control.ts';
import type { Platform } from '../../commands/platform.ts';
import { start } from '../../commands/start.ts';
import { createStoreMembers } from '../../runtime/store-members.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { licenseKeys, toSecretFields } from '../../schemas/resources/license-key.ts';
import { users, usersTenant } from '../../schemas/resources/user.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';

/** All embedded stores, with a bus that a test can modify. */
const platformOf = async (t: ExecutionContext, change: (bus: Bus) => Bus) => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-start-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const ends: string[] = [];
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  const columns = await openChdbColumns({ directory: join(directory, 'columns') });
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const platform: Platform = {
    settings: parseSettings({
      OIQ_DATA_DIR: directory,
      OIQ_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_SHUTDOWN_SECONDS: '600',
    }),
    log: { ...silentLog, info: (_fields, message) => ends.push(message), close: async () => undefined },
    metrics: await createMetricsProvider(undefined, { instance: 'test', version: 'test' }),
    clock: systemClock,
    bus: change(bus),
    columns,
    documents,
    counters: createMemoryCounters({}),
    mailer: await createFileMailer({ path: join(directory, 'outbox.jsonl') }),
    storeMembers: createStoreMembers(),
    embedded: true,
    registerSchemas: async () => undefined,
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
  'a consumer group that fails during the start fails the start, and started components are stopped',
  async (t) => {
    const { platform, ends } = await platformOf(t, (bus) => ({
      ensureTopics: (topics) => bus.ensureTopics(topics),
      producer: () => bus.producer(),
      offsets: (topic) => bus.offsets(topic),
      lag: (group, topics) => bus.lag(group, topics),
      members: (groups) => bus.members(groups),
      check: () => bus.check(),
      close: () => bus.close(),
      deleteGroup: (group) => bus.deleteGroup(group),
      read: (topic, partition, from, to) => bus.read(topic, partition, from, to),
      createFollower: () => bus.createFollower(),
      createConsumer: (options) => {
        const consumer = bus.createConsumer(options);
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

test.serial('commands reach an instance as soon as its main address reports ready', async (t) => {
  const { platform } = await platformOf(t, (bus) => bus);
  const [port = 0] = await freePorts(1);
  const settings = { ...platform.settings, HTTP_ADDRESS: `127.0.0.1:${port}` };
  const starting = start({ ...platform, settings }, { names: [], components: [], plans: {}, onFirstStart() {} });
  const responses: number[] = [];
  await eventually('it is ready', async () => {
    const response = await fetch(`http://${settings.HTTP_ADDRESS}/readyz`).catch(() => undefined);
    if (response !== undefined) responses.push(response.status);
    return response?.status === 200;
  });
  t.true(existsSync(getSocketPath(settings.DATA_DIR)));
  t.is(responses[0], 503);
  await (await starting).stop();
});

test.serial(
  'a role whose store was lost during its start is started again, and reuses nothing of the first attempt',
  async (t) => {
    const { platform } = await platformOf(t, (bus) => bus);
    const { documents } = platform;
    let follows = 0;
    let open = 0;
    const flapping = new Proxy(documents, {
      get(of, name) {
        if (name !== 'follow') {
          const value: unknown = Reflect.get(of, name);
          return typeof value === 'function' ? value.bind(of) : value;
        }
        return async (...parameters: Parameters<typeof of.follow>) => {
          follows++;
          if (follows === 3) throw new UnavailableError('MongoDB cannot be reached');
          const feed = await of.follow(...parameters);
          open++;
          return { staleMs: () => feed.getStaleMs(), close: () => feed.close().then(() => void open--) };
        };
      },
    });
    const running = await start(
      { ...platform, documents: flapping },
      { names: ['api'], components: [], plans: {}, onFirstStart() {} },
    );
    const followed = follows - 3;
    t.is(open, followed);
    await running.stop();
    t.is(open, 0);
  },
);

test.serial('a start that waits for a store ends when it is stopped', async (t) => {
  const { platform, ends } = await platformOf(t, (bus) => bus);
  const stopping = new AbortController();
  const documents = {
    ...platform.documents,
    check: () => Promise.reject(new UnavailableError('MongoDB cannot be reached')),
  };
  const starting = start(
    { ...platform, documents },
    { names: ['receivers'], components: [], plans: {}, onFirstStart() {}, stopSignal: stopping.signal },
  );
  setTimeout(() => stopping.abort(), 100);
  await t.throwsAsync(starting, { name: 'AbortError' });
  t.is(ends.at(-1), 'platform closed');
});

test.serial('an error that cannot be resolved by waiting ends the start at once', async (t) => {
  const { platform, ends } = await platformOf(t, (bus) => bus);
  const documents = { ...platform.documents, check: () => Promise.reject(new Error('MongoDB refuses the login')) };
  await t.throwsAsync(
    start({ ...platform, documents }, { names: ['receivers'], components: [], plans: {}, onFirstStart() {} }),
    { message: 'MongoDB refuses the login' },
  );
  t.is(ends.at(-1), 'platform closed');
});

test.serial('a first start with a lost response shows its generated secrets, and a later start does not', async (t) => {
  const { platform } = await platformOf(t, (bus) => bus);
  const { documents } = platform;
  const lost = { answers: 1 };
  const losing = new Proxy(documents, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name);
      if (name !== 'transaction') return typeof value === 'function' ? value.bind(of) : value;
      return async (work: Parameters<typeof of.transaction>[0]) => {
        const result = await of.transaction(work);
        if (lost.answers-- > 0) throw new UnavailableError('MongoDB cannot be reached');
        return result;
      };
    },
  });
  const shown: FirstStartSecrets[] = [];
  const options = {
    names: ['api' as const],
    components: [],
    plans: {},
    onFirstStart: (created: FirstStartSecrets) => void shown.push(created),
  };
  const running = await start({ ...platform, documents: losing }, options);
  t.true(lost.answers < 1);
  t.is(shown.length, 1);
  const { licenseKey = '', password = '' } = shown[0] ?? {};
  const keys = await documents.forTenant('default').collection(licenseKeys).list();
  t.like(keys.items[0], toSecretFields(licenseKey));
  const [owner] = (await documents.forTenant(usersTenant).collection(users).list()).items;
  t.true(await (await createPasswords()).verify(owner?.passwordHash, password));
  t.is(await initializeInstallation(documents, platform.settings), undefined);
  await running.stop();
});

test.serial('keep-alive connections are notified of the shutdown with a response before they are closed', async (t) => {
  const { platform } = await platformOf(t, (bus) => bus);
  const running = await start(platform, { names: ['receivers'], components: [], plans: {}, onFirstStart() {} });
  const addresses = running.addresses.filter(([what]) => what === 'HTTP' || what === 'OTLP/HTTP');
  t.is(addresses.length, 2);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const sendRequest = (address: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const answered = (response: IncomingMessage): void => void response.resume().once('end', () => resolve(response));
      get(`${address.replace(/^(?!http)/, 'http://')}/v1/logs`, { agent }, answered).once('error', reject);
    });
  for (const [what, address] of addresses) t.is((await sendRequest(address)).headers.connection, 'keep-alive', what);
  const stopped = running.stop();
  for (const [what, address] of addresses) t.is((await sendRequest(address)).headers.connection, 'close', what);
  await stopped;
});
