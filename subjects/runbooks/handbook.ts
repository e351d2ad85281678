/** Documentation of the platform: the READMEs of its directories */
import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PassageSource } from './passage-index.ts';
import { readDocument } from './passages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const isExcluded = (name: string): boolean => name === 'node_modules' || name === 'test' || name.startsWith('.');

let cachedSources: Promise<readonly PassageSource[]> | undefined;

const readAllReadmes = async (): Promise<readonly PassageSource[]> => {
  const paths: string[] = [];
  const exclude = (path: string): boolean => path.split(/[/\\]/).some(isExcluded);
  for await (const path of glob('**/README.md', { cwd: root, exclude })) paths.push(path.replaceAll('\\', '/'));
  return Promise.all(
    paths.sort().map(async (path): Promise<PassageSource> => {
      const { title, passages } = readDocument(await readFile(join(root, path), 'utf8'), 'markdown');
      const folder = dirname(path) === '.' ? '' : dirname(path);
      return { source: 'handbook', id: path, title: `${title} ${folder}`.trim(), url: '', passages };
    }),
  );
};

/** Returns all READMEs by path; they are read on the first call. */
export const readHandbook = (): Promise<readonly PassageSource[]> => {
  cachedSources ??= readAllReadmes();
  return cachedSources;
};
