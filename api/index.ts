/**
 * The management API for the rest of the process. The code behind this module is loaded on first use: a process that
 * serves no API loads none of it.
 */
import type { Documents } from '../schemas/ports/documents.ts';
import type { Settings } from '../schemas/settings.ts';
import type { FileFindings } from './groups/audit/chain/evidence-file-check.ts';
import type { DeadLettersOptions } from './groups/dead-letter/replay/dead-letters.ts';
import type { GeneratedSecrets } from './identity/accounts/first-start.ts';
import type { DeadLetters } from './kernel/ports/dead-letters.ts';

export type { DeadLetterFilter, DeadLetterState } from '../subjects/dead-letters/dead-letters.ts';
export type { FileFindings } from './groups/audit/chain/evidence-file-check.ts';
export type { FirstStartSecrets } from './identity/accounts/first-start.ts';
export type { DeadLetters } from './kernel/ports/dead-letters.ts';

/** Resolves once permissions are loaded, so that the first request can already be authorized. */
export const startApi: typeof import('./start.ts').startApi = async (...given) =>
  (await import('./start.ts')).startApi(...given);

/** Opens the work queue and the result intake for the probes of the location `local`. */
export const openLocalWork: typeof import('./groups/synthetics/local-work.ts').createLocalWork = async (...given) =>
  (await import('./groups/synthetics/local-work.ts')).createLocalWork(...given);

/** Creates the indexes of every collection. */
export const ensureCollections = async (documents: Documents): Promise<void> =>
  documents.ensureCollections((await import('./collections.ts')).collections);

/** Migrates stored documents to the field names of this version. Returns how many documents each migration changed. */
export const migrateDocuments: typeof import('./document-migrations.ts').migrateDocuments = async (...given) =>
  (await import('./document-migrations.ts')).migrateDocuments(...given);

/** Returns the ids of the migrations of documents. */
export const listDocumentMigrations = async (): Promise<readonly string[]> =>
  (await import('./document-migrations.ts')).migrations.map(({ id }) => id);

/** Returns the secrets for a new installation, identical for each attempt of `initializeInstallation`. */
export const generateFirstSecrets = async (): Promise<GeneratedSecrets> =>
  (await import('./identity/accounts/first-start.ts')).generateSecrets();

/** Sets up a new installation in one transaction; returns `undefined` if another start already did. */
export const initializeInstallation: typeof import('./identity/accounts/first-start.ts').initializeInstallation =
  async (...given) => (await import('./identity/accounts/first-start.ts')).initializeInstallation(...given);

/** Opens the dead letters of all tenants, for the command line and the API. */
export const openDeadLetters = async (options: DeadLettersOptions): Promise<DeadLetters> =>
  (await import('./groups/dead-letter/replay/dead-letters.ts')).createDeadLetters(options);

/**
 * Lists replays of dead letters requested through the API, the newest first, including those without a running
 * instance.
 */
export const listReplays: typeof import('./groups/dead-letter/replay/replay-jobs.ts').listReplays = async (...given) =>
  (await import('./groups/dead-letter/replay/replay-jobs.ts')).listReplays(...given);

/** Reopens a closed organization; throws if it does not exist or was erased. */
export const reopenOrganization: typeof import('./identity/accounts/close-organization.ts').reopenOrganization = async (
  ...given
) => (await import('./identity/accounts/close-organization.ts')).reopenOrganization(...given);

/** Sets the number of partitions for the telemetry of an organization; throws if it is impossible. */
export const setShards: typeof import('./identity/accounts/shards.ts').setShards = async (...given) =>
  (await import('./identity/accounts/shards.ts')).setShards(...given);

/** Verifies an exported audit chain; `unreadableReason` contains the reason if the file is invalid. */
export const verifyEvidenceFile = async (
  path: string,
): Promise<FileFindings | { readonly unreadableReason: string }> => {
  const { EvidenceFileError, verifyEvidenceFile: verify } = await import('./groups/audit/chain/evidence-file-check.ts');
  try {
    return await verify(path);
  } catch (error) {
    if (error instanceof EvidenceFileError) return { unreadableReason: error.message };
    throw error;
  }
};

/** Returns the public half of the key with which this installation signs its audit log. */
export const readEvidencePublicKey = async (
  settings: Pick<Settings, 'SECRET_KEY' | 'DATA_DIR'>,
): Promise<{ readonly id: string; readonly publicKey: string }> => {
  const { deriveEvidenceKey } = await import('./groups/audit/chain/evidence-key.ts');
  const { createSecretBox, loadSecretKey } = await import('../runtime/secret-box.ts');
  const { id, publicKey } = deriveEvidenceKey(createSecretBox(await loadSecretKey(settings)));
  return { id, publicKey };
};

/** Signs the current state of an audit chain that lost all its signed tree heads; returns the number of records. */
export const resignChain: typeof import('./groups/audit/resign-chain.ts').resignChain = async (...given) =>
  (await import('./groups/audit/resign-chain.ts')).resignChain(...given);

/** Lists operations with group, role and whether they are implemented; with `missingOnly`, only those that are not implemented. */
export const formatOperationsReport = async (missingOnly: boolean): Promise<string> => {
  const { operations } = await import('./groups/index.ts');
  const listedOperations = operations.filter(({ built }) => !missingOnly || !built);
  const lines = listedOperations.map(({ method, path, role, group, built }) =>
    [method.padEnd(6), path.padEnd(64), role.padEnd(8), group.padEnd(22), built ? '' : 'not built'].join(' ').trimEnd(),
  );
  const missingCount = operations.filter(({ built }) => !built).length;
  return `${lines.join('\n')}\n${operations.length - missingCount} of ${operations.length} operations are built, ${missingCount} are not\n`;
};
