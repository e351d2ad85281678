/** The YAML files of a folder */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface YamlFile {
  /** Relative to the folder */
  readonly path: string;
  readonly source: string;
}

/** Files of a folder and its subfolders, sorted by their relative paths. */
interface Folder {
  readonly files: readonly YamlFile[];
  /** Other files that are not hidden, such as a note, or a link */
  readonly otherPaths: readonly string[];
}

/** Whether a path within a folder contains a name that begins with a dot. */
export const isHidden = (path: string): boolean => path.split(sep).some((name) => name.startsWith('.'));

/** Reads YAML files, and JSON files, which are also YAML, if requested; throws if there are none. */
export const readFolder = async (
  folder: string,
  { includesJson = false }: { readonly includesJson?: boolean } = {},
): Promise<Folder> => {
  const filePattern = includesJson ? /\.(?:ya?ml|json)$/i : /\.ya?ml$/i;
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ path: relative(folder, join(entry.parentPath, entry.name)), isFile: entry.isFile() }))
    .toSorted((first, second) => (first.path < second.path ? -1 : 1));
  const isReadable = ({ path, isFile }: (typeof entries)[number]): boolean => isFile && filePattern.test(path);
  const paths = entries.filter(isReadable).map(({ path }) => path);
  if (paths.length === 0) throw new Error(`${folder} contains no YAML${includesJson ? ' or JSON' : ''} files`);
  return {
    files: await Promise.all(paths.map(async (path) => ({ path, source: await readFile(join(folder, path), 'utf8') }))),
    otherPaths: entries.filter((entry) => !isReadable(entry) && !isHidden(entry.path)).map(({ path }) => path),
  };
};
