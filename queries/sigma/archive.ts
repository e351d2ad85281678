/** Texts of Sigma in a zip archive. */
import { strFromU8, unzipSync } from 'fflate';
import { PermanentError } from '../../schemas/errors.ts';

export interface SigmaFile {
  /** Path in the archive; empty for a text by itself. */
  readonly name: string;
  readonly source: string;
}

const mostFiles = 20_000;
const mostBytes = 64 * 1024 * 1024;

/** Its files of YAML, by their paths. Rejects what is no archive, and one that unpacks to more than it may. */
export const filesOf = (archive: Uint8Array): SigmaFile[] => {
  let files = 0;
  let bytes = 0;
  const refuse = (message: string): never => {
    throw new PermanentError('bad-archive', message);
  };
  try {
    const unpacked = unzipSync(archive, {
      filter({ name, originalSize }) {
        if (!/\.ya?ml$/i.test(name) || name.startsWith('__MACOSX/')) return false;
        files++;
        bytes += originalSize;
        if (files > mostFiles) refuse(`the archive holds more than ${mostFiles} files`);
        if (bytes > mostBytes) refuse(`the archive unpacks to more than ${mostBytes} bytes`);
        return true;
      },
    });
    return Object.entries(unpacked)
      .map(([name, content]) => ({ name, source: strFromU8(content) }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    if (error instanceof PermanentError) throw error;
    return refuse(`this is no zip archive: ${(error as Error).message}`);
  }
};
