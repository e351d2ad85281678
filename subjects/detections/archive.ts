/** Sigma files in a zip archive. */
import { strFromU8, Unzip, type UnzipFile, UnzipInflate } from 'fflate';
import { runInWorker } from '../../queries/worker.ts';
import { PermanentError } from '../../schemas/errors.ts';

export interface SigmaFile {
  /** Path in the archive; empty for a single text. */
  readonly name: string;
  readonly source: string;
}

const maxFiles = 20_000;
const maxBytes = 64 * 1024 * 1024;
/**
 * Size of the chunks to decompress. Each byte expands to at most a thousand bytes, so the limits are checked in time.
 */
const chunkBytes = 4096;

/** Signatures of the first file, or of the end of an empty archive. */
const zipSignatures = ['PK\x03\x04', 'PK\x05\x06'];

const throwBadArchive = (message: string): never => {
  throw new PermanentError('bad-archive', message);
};

/** Collects decompressed files. Counts their actual sizes, because headers are not trustworthy. */
class ArchiveReader {
  readonly textsByName = new Map<string, string>();
  #files = 0;
  #bytes = 0;

  add(file: UnzipFile): void {
    if (!/\.ya?ml$/i.test(file.name) || file.name.startsWith('__MACOSX/')) return;
    this.#files++;
    if (this.#files > maxFiles) throwBadArchive(`the archive contains more than ${maxFiles} files`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    file.ondata = (error, chunk, isLast) => {
      if (error !== null) throw error;
      size += chunk.length;
      this.#bytes += chunk.length;
      if (this.#bytes > maxBytes) throwBadArchive(`the archive decompresses to more than ${maxBytes} bytes`);
      if (size > (file.originalSize ?? maxBytes)) throwBadArchive(`${file.name} is larger than the archive declares`);
      chunks.push(chunk);
      if (isLast) this.textsByName.set(file.name, strFromU8(Buffer.concat(chunks)));
    };
    file.start();
  }
}

/**
 * Returns the YAML files of an archive by path. Throws for an invalid archive, and for one that decompresses to more
 * than the limit or the declared size.
 */
export const extractFiles = (archive: Uint8Array): SigmaFile[] => {
  if (!zipSignatures.includes(strFromU8(archive.subarray(0, 4), true)))
    throwBadArchive('this is not a zip archive: the signature is missing');
  try {
    const reader = new ArchiveReader();
    const unzip = new Unzip((file) => reader.add(file));
    unzip.register(UnzipInflate);
    for (let offset = 0; offset < archive.length; offset += chunkBytes)
      unzip.push(archive.subarray(offset, offset + chunkBytes), offset + chunkBytes >= archive.length);
    return [...reader.textsByName]
      .map(([name, source]) => ({ name, source }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    if (error instanceof PermanentError) throw error;
    return throwBadArchive(`this is not a valid zip archive: ${(error as Error).message}`);
  }
};

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
