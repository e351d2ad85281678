/** The files of YAML of a folder. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface YamlFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly source: string;
}

/** Those of a folder and below it, in the order of their paths; throws where there are none. */
export const yamlFilesIn = async (folder: string): Promise<readonly YamlFile[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.ya?ml$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  if (paths.length === 0) throw new Error(`${folder} holds no files of YAML`);
  return Promise.all(
    paths.map(async (path) => ({ path: relative(folder, path), source: await readFile(path, 'utf8') })),
  );
};
