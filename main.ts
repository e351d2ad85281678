/** Composition: reads the environment, selects adapters, runs a command. Only this file imports the adapters. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { createMemoryCounters } from './adapters/counters-memory.ts';
import { type DirectoryLock, lockDirectory } from './adapters/directory-lock.ts';
import type { ExportTarget } from './adapters/own-telemetry/export-target.ts';
import { createLogProvider } from './adapters/own-telemetry/log.ts';
import { createMetricsProvider } from './adapters/own-telemetry/metrics.ts';
import { runCommand } from './commands/command.ts';
import { requireKnownVersion } from './commands/directory-version.ts';
import { requireCompleteDirectory } from './commands/installation-parts.ts';
import type { Platform } from './commands/platform.ts';
import { createStoreMembers } from './runtime/store-members.ts';
import { version } from './runtime/version.ts';
import { DirectoryLockedError } from './schemas/errors.ts';
import type { Bus } from './schemas/ports/bus.ts';
import { systemClock } from './schemas/ports/clock.ts';
import type { Columns } from './schemas/ports/columns.ts';
import type { Counters } from './schemas/ports/counters.ts';
import type { Documents } from './schemas/ports/documents.ts';
import type { Log } from './schemas/ports/log.ts';
import type { Mailer } from './schemas/ports/mail.ts';
import type { Metrics } from './schemas/ports/metrics.ts';
import type { StoreMembers } from './schemas/ports/store-members.ts';
import { isEmbedded, type SettingName, type Settings, SettingsError } from './schemas/settings.ts';

// Bodies are buffers outside V8's heap. By default every 64 MB of them trigger a full collection, whatever the size of
// the heap: a third of all CPU time under load. Counting them into the heap's own limit prevents that.
setFlagsFromString('--external-memory-accounted-in-global-limit');

/** Maximum wait for a stopping process that still uses the data directory */
const lockWaitMs = 10_000;

const getExportTarget = ({
  OTLP_EXPORT_ENDPOINT: endpoint,
  OTLP_EXPORT_HEADERS: headers,
}: Settings): ExportTarget | undefined => {
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    headers: Object.fromEntries(
      headers.map((header) => [header.slice(0, header.indexOf('=')), header.slice(header.indexOf('=') + 1)]),
    ),
  };
};

const readSettingFile = (setting: SettingName, path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError([`OIQ_${setting}: ${path} cannot be read: ${(error as Error).message}`]);
  }
};

const readKafkaTls = ({ KAFKA_SSL, KAFKA_SSL_CERT_FILE: cert, KAFKA_SSL_KEY_FILE: key }: Settings) =>
  cert === undefined || key === undefined
    ? KAFKA_SSL
    : { cert: readSettingFile('KAFKA_SSL_CERT_FILE', cert), key: readSettingFile('KAFKA_SSL_KEY_FILE', key) };

const getKafkaSecurity = (settings: Settings) => ({
  tls: readKafkaTls(settings),
  ...(settings.KAFKA_SASL_MECHANISM && {
    sasl: {
      mechanism: settings.KAFKA_SASL_MECHANISM,
      username: settings.KAFKA_SASL_USERNAME,
      password: settings.KAFKA_SASL_PASSWORD,
    },
  }),
});

/** How adapters report what happens. */
interface Reporting {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly storeMembers: StoreMembers;
}

/**
 * Each adapter is loaded only if the settings select it: drivers are most of the code that the process loads and compiles at startup.
 */
const openBus = async (
  settings: Settings,
  directory: string,
  { log, metrics, storeMembers }: Reporting,
): Promise<Bus> => {
  if (settings.KAFKA_BROKERS.length > 0) {
    const { openKafkaBus } = await import('./adapters/bus-kafka/bus-kafka.ts');
    return openKafkaBus({
      brokers: settings.KAFKA_BROKERS,
      replication: settings.KAFKA_REPLICATION,
      rack: settings.KAFKA_RACK,
      ...getKafkaSecurity(settings),
      log,
      storeMembers,
    });
  }
  const { openSegmentsBus } = await import('./adapters/bus-segments/bus-segments.ts');
  const retentionBytes = settings.SEGMENT_RETENTION_BYTES;
  return openSegmentsBus({ directory, log, metrics, ...(retentionBytes === undefined ? {} : { retentionBytes }) });
};

const openColumns = async (
  settings: Settings,
  directory: string,
  { log, storeMembers }: Reporting,
): Promise<Columns> => {
  const { CLICKHOUSE_URL: urls, CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_INSERT_QUORUM: insertQuorum } = settings;
  const { CLICKHOUSE_STORAGE_POLICY: policy, CLICKHOUSE_COLD_AFTER_DAYS: coldAfterDays } = settings;
  if (urls !== undefined) {
    const { openClickhouseColumns } = await import('./adapters/columns-clickhouse/columns-clickhouse.ts');
    const storage = policy === undefined ? undefined : { policy, coldAfterDays };
    return openClickhouseColumns({ urls, cluster, insertQuorum, storage, log, storeMembers });
  }
  const { openChdbColumns } = await import('./adapters/columns-chdb/columns-chdb.ts');
  return openChdbColumns({ directory, log });
};

const openDocuments = async (
  url: string | undefined,
  path: string,
  { log, storeMembers }: Reporting,
): Promise<Documents> => {
  if (url !== undefined) {
    const { openMongoDocuments } = await import('./adapters/documents-mongodb/documents-mongodb.ts');
    return openMongoDocuments({ url, storeMembers });
  }
  const { openSqliteDocuments } = await import('./adapters/documents-sqlite/documents-sqlite.ts');
  return openSqliteDocuments({ path, log });
};

const openCounters = async (url: string | undefined, reporting: Reporting): Promise<Counters> => {
  if (url === undefined) return createMemoryCounters({});
  const { createRedisCounters } = await import('./adapters/counters-redis.ts');
  return createRedisCounters({ url, ...reporting });
};

const openMailer = async (settings: Settings, path: string): Promise<Mailer> => {
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL } = settings;
  if (SMTP_URL === undefined) {
    const { createFileMailer } = await import('./adapters/mail-file.ts');
    // Only a process with embedded stores locks the data directory.
    return createFileMailer({ path, isShared: !isEmbedded(settings) });
  }
  const { createSmtpMailer } = await import('./adapters/mail-smtp.ts');
  const host = PUBLIC_URL === undefined ? hostname() : new URL(PUBLIC_URL).hostname;
  return createSmtpMailer({ url: SMTP_URL, from: MAIL_FROM ?? `OIQ <noreply@${host}>` });
};

const ownFilePattern =
  /^(?:bus|columns|documents\.sqlite.*|lock\..*|secret-key.*|version\.json.*|outbox.*\.jsonl(?:\.new)?|control\.sock|lost\+found)$/;

/** Restricts access to a directory with telemetry and secrets, unless others also store files in it. */
const restrictAccess = (directory: string, log: Log): void => {
  const mode = (statSync(directory).mode & 0o777).toString(8);
  if (mode.endsWith('00')) return;
  try {
    const foreignFile = readdirSync(directory).find((name) => !ownFilePattern.test(name));
    if (foreignFile !== undefined) throw new Error(`it contains ${foreignFile}, which OIQ did not create`);
    chmodSync(directory, 0o700);
    log.warn({ directory, mode }, 'other users could read the data directory: their access was removed');
  } catch (error) {
    log.warn(
      { directory, mode, error },
      'other users can read the data directory: give oiq its own directory, with mode 700',
    );
  }
};

const lockDataDirectory = async (directory: string, log: Log): Promise<DirectoryLock> => {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    restrictAccess(directory, log);
    return await lockDirectory(directory, lockWaitMs);
  } catch (error) {
    if (error instanceof DirectoryLockedError) throw error;
    throw new SettingsError([`OIQ_DATA_DIR: ${directory} cannot be used: ${(error as Error).message}`]);
  }
};

/** Opens every port with the adapter that the settings select. */
const openPlatform = async (settings: Settings): Promise<Platform> => {
  const target = getExportTarget(settings);
  const instance = `${hostname()}:${process.pid}`;
  const log = await createLogProvider(settings.LOG_LEVEL, target, instance);
  const metrics = await createMetricsProvider(target, { instance, version });
  const storeMembers = createStoreMembers({ log, metrics });
  const reporting = { log, metrics, storeMembers };
  const getDataPath = (name: string): string => join(settings.DATA_DIR, name);
  const { MONGODB_URL: mongodb, SCHEMA_REGISTRY_URL: registry } = settings;
  const openedPorts: { close(): Promise<void> }[] = [metrics, log];
  const track = <Port extends { close(): Promise<void> }>(port: Port): Port => {
    openedPorts.push(port);
    return port;
  };
  const embedded = isEmbedded(settings);
  try {
    if (embedded) {
      track(await lockDataDirectory(settings.DATA_DIR, log));
      requireCompleteDirectory(settings);
      await requireKnownVersion(settings);
    }
    const bus = track(await openBus(settings, getDataPath('bus'), reporting));
    const columns = track(await openColumns(settings, getDataPath('columns'), reporting));
    const documents = track(await openDocuments(mongodb, getDataPath('documents.sqlite'), reporting));
    const counters = track(await openCounters(settings.REDIS_URL, reporting));
    const mailer = track(await openMailer(settings, getDataPath('outbox.jsonl')));
    return {
      settings,
      log,
      metrics,
      clock: systemClock,
      bus,
      columns,
      documents,
      counters,
      mailer,
      storeMembers,
      embedded,
      async registerSchemas(topics) {
        if (registry !== undefined)
          await (await import('./adapters/schema-registry.ts')).registerSchemas(registry, topics);
      },
      async close() {
        for (const port of openedPorts.reverse()) await port.close();
      },
    };
  } catch (error) {
    for (const port of openedPorts.reverse()) await port.close().catch(() => undefined);
    throw error;
  }
};

await runCommand({ args: process.argv.slice(2), environment: process.env, open: openPlatform });
