import { setTimeout as delay } from 'node:timers/promises';
import { ensureCollections, migrateDocuments } from '../api/index.ts';
import { waitForAll } from '../runtime/retry.ts';
import { PermanentError } from '../schemas/errors.ts';
import { parseSettings, rejectLocalStores, type Settings, SettingsError } from '../schemas/settings.ts';
import { allTopics } from '../schemas/topics.ts';
import { parseOptions } from './command-arguments.ts';
import { recordVersion } from './directory-version.ts';
import { formatInstallationName } from './installation.ts';
import type { CommandContext, OpenPlatform, Platform } from './platform.ts';
import { UsageError } from './usage-error.ts';

/**
 * Brings topics, their registered schemas, tables and indexes to the declared state. Idempotent, and safe to run
 * concurrently. A data directory records the version.
 */
export const migrateAll = async (platform: Platform): Promise<void> => {
  const { bus, columns, documents, log, registerSchemas } = platform;
  const { migrateTables } = await import('../sinks/index.ts');
  const { scheduleTopics } = await import('../processors/index.ts');
  const topics = [...allTopics, ...scheduleTopics];
  // Wait until all of them have ended, even after a failure: a retry must not run concurrently with them.
  await waitForAll([
    ...[bus.ensureTopics(topics), registerSchemas(allTopics)],
    ...[migrateTables(columns, log), ensureCollections(documents)],
  ]);
  const changeCounts = await migrateDocuments(documents);
  if (Object.keys(changeCounts).length > 0) log.info(changeCounts, 'documents were migrated');
  if (platform.embedded) await recordVersion(platform.settings);
};

const pauseMs = 2_000;

const migrateOnce = async (settings: Settings, open: OpenPlatform): Promise<void> => {
  const platform = await open(settings);
  try {
    await migrateAll(platform);
  } finally {
    await platform.close();
  }
};

/** Whether a retry may succeed: possible for unavailable stores, but not for wrong settings and declarations. */
const isRetriable = (error: unknown): error is Error =>
  error instanceof Error && !(error instanceof SettingsError) && !(error instanceof PermanentError);

/**
 * `oiq migrate`. With `--wait`, failures are reported and retried until the time limit; the error is the last reason.
 */
export const migrateCommand = async ({ args, environment, open }: CommandContext, usage: string): Promise<void> => {
  const { wait } = parseOptions(args, { wait: { type: 'string', default: '0' } }, usage);
  if (!(Number(wait) >= 0)) throw new UsageError(`--wait must be a number of seconds, not ${wait}\n\n${usage}`);
  const settings = parseSettings(environment);
  rejectLocalStores(settings, { isPart: true });
  process.stderr.write(`installation: ${formatInstallationName(settings)}\n`);
  const deadline = Date.now() + Number(wait) * 1_000;
  for (let lastMessage = ''; ; await delay(pauseMs)) {
    try {
      await migrateOnce(settings, open);
      break;
    } catch (error) {
      if (!isRetriable(error) || Date.now() + pauseMs > deadline) throw error;
      if (error.message !== lastMessage) process.stderr.write(`waiting: ${error.message}\n`);
      lastMessage = error.message;
    }
  }
  process.stdout.write('topics, tables and indexes are up to date\n');
};
