/** Records which migrations a data directory has, so that an older program rejects it before it opens a store. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Settings, SettingsError } from '../schemas/settings.ts';

/** What a program has applied to a data directory, or can apply */
export interface DirectoryVersion {
  /** Id of the newest migration of the tables */
  readonly tables: number;
  /** Ids of the migrations of documents */
  readonly documents: readonly string[];
}

export const versionFile = 'version.json';

/** Returns the version of this program. */
export const getKnownVersion = async (): Promise<DirectoryVersion> => {
  const [{ getNewestTableMigration }, { listDocumentMigrations }] = await Promise.all([
    import('../sinks/index.ts'),
    import('../api/index.ts'),
  ]);
  return { tables: await getNewestTableMigration(), documents: await listDocumentMigrations() };
};

/** Returns the recorded version of a data directory; `undefined` before the first one, and if the file is damaged. */
const readVersion = (path: string): Partial<DirectoryVersion> | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<DirectoryVersion>;
  } catch {
    // The stores check their own versions, only later.
    return undefined;
  }
};

/** Throws if a newer program has migrated the data directory. Reads one file, so that it can run before any store is opened. */
export const requireKnownVersion = async (
  { DATA_DIR: directory }: Pick<Settings, 'DATA_DIR'>,
  loadKnownVersion = getKnownVersion,
): Promise<void> => {
  const stored = readVersion(join(directory, versionFile));
  if (stored === undefined) return;
  const known = await loadKnownVersion();
  const { tables = 0, documents = [] } = stored;
  const newerDocuments = documents.filter((id) => !known.documents.includes(id));
  const reasons = [
    ...(tables > known.tables
      ? [`its tables are at version ${tables}, and this program knows version ${known.tables}`]
      : []),
    ...(newerDocuments.length > 0 ? [`its documents were migrated by ${newerDocuments.join(', ')}`] : []),
  ];
  if (reasons.length === 0) return;
  throw new SettingsError([
    `OIQ_DATA_DIR: a newer version of OIQ wrote ${resolve(directory)}: ${reasons.join('; ')}.`,
    'Run the newer version, or restore a backup from before the upgrade.',
  ]);
};

/** Records that the data directory has all migrations of this program. */
export const recordVersion = async ({ DATA_DIR: directory }: Pick<Settings, 'DATA_DIR'>): Promise<void> => {
  const path = join(directory, versionFile);
  const text = `${JSON.stringify(await getKnownVersion())}\n`;
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};
