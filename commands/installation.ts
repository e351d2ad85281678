/** Identifies the installation of the settings. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecretBox, getSecretKeyPath, loadSecretKey } from '../runtime/secret-box.ts';
import { PermanentError, UnavailableError } from '../schemas/errors.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import { ConflictError, platformTenant } from '../schemas/ports/documents.ts';
import { installation } from '../schemas/resources/installation.ts';
import { isEmbedded, type Settings, SettingsError } from '../schemas/settings.ts';
import { topics } from '../schemas/topics.ts';
import type { Platform } from './platform.ts';

/** Hosts and path of a URL, without user and password. */
const removeCredentials = (url: string): string => url.replace(/^[^:]+:\/\/(?:[^@/]*@)?/, '').replace(/\?.*/, '');

/** Location of an installation, as readable text. */
export const formatInstallationName = (settings: Settings): string => {
  const { KAFKA_BROKERS: brokers, CLICKHOUSE_URL: clickhouse, MONGODB_URL: mongodb, DATA_DIR: directory } = settings;
  return [
    ...(brokers.length > 0 ? [`Kafka ${brokers.join(',')}`] : []),
    ...(clickhouse === undefined ? [] : [`ClickHouse ${clickhouse.map(removeCredentials).join(', ')}`]),
    ...(mongodb === undefined ? [] : [`MongoDB ${removeCredentials(mongodb)}`]),
    ...(isEmbedded(settings) ? [`data directory ${resolve(directory)}`] : []),
  ].join(', ');
};

/** Topics that only the senders and audit chains of an installation write */
const installationTopics = [topics.logs, topics.metrics, topics.traces, topics.remoteWrite, topics.evidenceHeads];
const installationTables = ['logs', 'spans', 'samples', 'histograms', 'summaries', 'evidence_heads'];

const findExistingData = async (bus: Bus, columns: Columns): Promise<string[]> => {
  const nonEmptyTopics: string[] = [];
  for (const { name } of installationTopics) {
    const partitions = await bus.offsets(name).catch((error: unknown) => {
      // A topic that was never created contains nothing.
      if (error instanceof PermanentError) return [];
      throw error;
    });
    if (partitions.some(({ end }) => end > 0)) nonEmptyTopics.push(`topic ${name}`);
  }
  const nonEmptyTables = new Set<string>();
  for (const server of columns.listServers()) {
    const rows = await server.columns
      .query<{ name: string }>(
        'SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0 AND has({tables:Array(String)}, name)',
        { tables: installationTables },
      )
      .catch((error: Error) => {
        if (error instanceof UnavailableError) throw error;
        throw new Error(`${error.message} (has oiq migrate been run?)`, { cause: error });
      });
    for (const { name } of rows) nonEmptyTables.add(name);
  }
  return [...nonEmptyTopics, ...Array.from(nonEmptyTables, (name) => `table ${name}`)];
};

/** Rejects a first start if data already exists, because then the documents are missing. */
export const rejectExistingData = async ({ bus, columns, documents, settings }: Platform): Promise<void> => {
  const hasInstallation = async () =>
    (await documents.forTenant(platformTenant).collection(installation).find('installation')) !== undefined;
  if (settings.NEW_INSTALLATION || (await hasInstallation())) return;
  const existingData = await findExistingData(bus, columns);
  // Another process may just have created it.
  if (existingData.length === 0 || (await hasInstallation())) return;
  const { MONGODB_URL: mongodb, DATA_DIR: directory } = settings;
  const [documentsLocation, setting] =
    mongodb === undefined
      ? [resolve(directory, 'documents.sqlite'), 'OIQ_DATA_DIR']
      : [`MongoDB ${removeCredentials(mongodb)}`, 'OIQ_MONGODB_URL'];
  throw new SettingsError([
    `${documentsLocation} contains no installation, but data of an installation exists (${existingData.join(', ')}): accounts, license keys and settings are missing.`,
    `Restore them from a backup, or correct ${setting}. OIQ_NEW_INSTALLATION=true creates a new installation instead: with a new owner and a new license key,`,
    'every key in use is refused, and the organization `default` reads the data of an earlier organization of that name.',
  ]);
};

/** Name under which the check of the secret key is derived from the key. */
const keyCheckPurpose = 'installation';

/**
 * Rejects a start with another secret key than the installation has: it could read none of its secrets, and would sign
 * the audit log with a key that nobody expects. Records the key of an installation that has none recorded.
 */
export const requireSecretKey = async ({
  documents,
  settings,
}: Pick<Platform, 'documents' | 'settings'>): Promise<void> => {
  const stored = documents.forTenant(platformTenant).collection(installation);
  const document = await stored.find('installation');
  if (document === undefined) return;
  const keyName = settings.SECRET_KEY === undefined ? getSecretKeyPath(settings) : 'OIQ_SECRET_KEY';
  const createError = (problem: string): SettingsError =>
    new SettingsError([
      `${keyName} ${problem}: stored secrets could not be read, and the audit log would be signed with another key.`,
      'Restore the key from a backup. OIQ_NEW_INSTALLATION=true continues with a new key: stored secrets must be entered again,',
      'and `oiq evidence sign ORGANIZATION` signs the audit log with it.',
    ]);
  const hasKey = settings.SECRET_KEY !== undefined || existsSync(getSecretKeyPath(settings));
  if (!hasKey && !settings.NEW_INSTALLATION) throw createError('is missing, but this installation exists');
  const box = createSecretBox(await loadSecretKey(settings));
  const secretKeyCheck = box.derive(keyCheckPurpose, 'secret key').toString('base64url');
  if (document.secretKeyCheck === secretKeyCheck) return;
  if (document.secretKeyCheck !== undefined && !settings.NEW_INSTALLATION)
    throw createError('is not the key of this installation');
  try {
    await stored.update('installation', { secretKeyCheck }, document.version);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    // Another process, perhaps with another key, changed the document meanwhile.
    await requireSecretKey({ documents, settings });
  }
};
