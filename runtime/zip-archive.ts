/** Files of a zip archive that a user sent, decompressed within limits. */
import { strFromU8, Unzip, type UnzipFile, UnzipInflate } from 'fflate';
import { PermanentError } from '../schemas/errors.ts';

export interface ZipLimits {
  /** Whether a file is extracted. Other files are not decompressed. */
  readonly accepts: (name: string) => boolean;
  readonly maxFiles: number;
  /** Maximum size of all extracted files together. */
  readonly maxBytes: number;
}

/**
 * Size of the chunks to decompress. Each byte expands to at most a thousand bytes, so the limits are checked in time.
 */
const chunkBytes = 4096;

/** Signatures of the first file, or of the end of an empty archive. */
const directoryEnd = Buffer.from('PK\x05\x06', 'latin1');
/** The end of the directory has 22 bytes, and a comment of at most 65,535. */
const maxDirectoryEndBytes = 22 + 65_535;
const zipSignatures = ['PK\x03\x04', 'PK\x05\x06'];

const throwBadArchive = (message: string): never => {
  throw new PermanentError('bad-archive', message);
};

/** Collects decompressed files. Counts their actual sizes, because headers are not trustworthy. */
class ArchiveReader {
  readonly filesByName = new Map<string, Buffer>();
  readonly #limits: ZipLimits;
  #files = 0;
  #openFiles = 0;
  #bytes = 0;

  constructor(limits: ZipLimits) {
    this.#limits = limits;
  }

  add(file: UnzipFile): void {
    const { accepts, maxFiles, maxBytes } = this.#limits;
    if (file.name.startsWith('__MACOSX/') || !accepts(file.name)) return;
    this.#files++;
    if (this.#files > maxFiles) throwBadArchive(`the archive contains more than ${maxFiles} files`);
    this.#openFiles++;
    const chunks: Uint8Array[] = [];
    let size = 0;
    file.ondata = (error, chunk, isLast) => {
      if (error !== null) throw error;
      size += chunk.length;
      this.#bytes += chunk.length;
      if (this.#bytes > maxBytes) throwBadArchive(`the archive decompresses to more than ${maxBytes} bytes`);
      if (size > (file.originalSize ?? maxBytes)) throwBadArchive(`${file.name} is larger than the archive declares`);
      chunks.push(chunk);
      if (!isLast) return;
      this.#openFiles--;
      this.filesByName.set(file.name, Buffer.concat(chunks));
    };
    file.start();
  }

  /** Whether a file has no end. */
  get hasOpenFiles(): boolean {
    return this.#openFiles > 0;
  }
}

/**
 * Returns the accepted files of an archive by path, in the order of their paths. Throws `PermanentError` (`bad-archive`)
 * for an invalid or incomplete archive, and for one that decompresses to more than the limits or its declared sizes.
 */
export const extractZipFiles = (archive: Uint8Array, limits: ZipLimits): [name: string, content: Buffer][] => {
  if (!zipSignatures.includes(strFromU8(archive.subarray(0, 4), true)))
    throwBadArchive('this is not a zip archive: the signature is missing');
  try {
    const reader = new ArchiveReader(limits);
    const unzip = new Unzip((file) => reader.add(file));
    unzip.register(UnzipInflate);
    for (let offset = 0; offset < archive.length; offset += chunkBytes)
      unzip.push(archive.subarray(offset, offset + chunkBytes), offset + chunkBytes >= archive.length);
    const hasEnd = Buffer.from(archive.buffer, archive.byteOffset, archive.length)
      .subarray(-maxDirectoryEndBytes)
      .includes(directoryEnd);
    if (reader.hasOpenFiles || !hasEnd) throwBadArchive('this is not a valid zip archive: it is cut short');
    return [...reader.filesByName].sort(([left], [right]) => (left < right ? -1 : 1));
  } catch (error) {
    if (error instanceof PermanentError) throw error;
    return throwBadArchive(`this is not a valid zip archive: ${(error as Error).message}`);
  }
};
