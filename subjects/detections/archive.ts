/** Sigma files in a zip archive. */
import { runInWorker } from '../../queries/worker.ts';
import { extractZipFiles } from '../../runtime/zip-archive.ts';
import { PermanentError } from '../../schemas/errors.ts';

export interface SigmaFile {
  /** Path in the archive; empty for a single text. */
  readonly name: string;
  readonly source: string;
}

const limits = {
  accepts: (name: string): boolean => /\.ya?ml$/i.test(name),
  maxFiles: 20_000,
  maxBytes: 64 * 1024 * 1024,
};

/** Returns the YAML files of an archive by path. Throws as `extractZipFiles` does. */
export const extractFiles = (archive: Uint8Array): SigmaFile[] =>
  extractZipFiles(archive, limits).map(([name, content]) => ({ name, source: content.toString('utf8') }));

/** Returns the files of an archive, or its problem. */
export const readArchive = (
  archive: Uint8Array,
): { readonly files: readonly SigmaFile[] } | { readonly problem: string } => {
  try {
    return { files: extractFiles(archive) };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return { problem: error.message };
  }
};

export const readArchiveInWorker = runInWorker(import.meta.url, readArchive);
