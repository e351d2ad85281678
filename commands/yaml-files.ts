/** The files of YAML of a folder. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface YamlFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly source: string;
}

/** What a folder and those below it hold, in the order of paths, which are relative to it. */
interface Folder {
  readonly files: readonly YamlFile[];
  /** What else there is and has no hidden name, such as a note, or a link. */
  readonly others: readonly string[];
}

/** Whether a path within a folder leads through a name that begins with a dot. */
export const isHidden = (path: string): boolean => path.split(sep).some((name) => name.startsWith('.'));

/** Reads files of YAML, and those of JSON, which is YAML as well, where they are wanted; throws where there are none. */
export const readFolder = async (
  folder: string,
  { json = false }: { readonly json?: boolean } = {},
): Promise<Folder> => {
  const filePattern = json ? /\.(?:ya?ml|json)$/i : /\.ya?ml$/i;
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ path: relative(folder, join(entry.parentPath, entry.name)), isFile: entry.isFile() }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const isRead = ({ path, isFile }: (typeof entries)[number]): boolean => isFile && filePattern.test(path);
  const paths = entries.filter(isRead).map(({ path }) => path);
  if (paths.length === 0) throw new Error(`${folder} holds no files of YAML${json ? ' or JSON' : ''}`);
  return {
    files: await Promise.all(paths.map(async (path) => ({ path, source: await readFile(join(folder, path), 'utf8') }))),
    others: entries.filter((entry) => !isRead(entry) && !isHidden(entry.path)).map(({ path }) => path),
  };
};
