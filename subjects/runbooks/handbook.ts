/** Documentation of the platform: the pages of `docs/`, except those for contributors */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PassageSource } from './passage-index.ts';
import { readDocument } from './passages.ts';

const folder = fileURLToPath(new URL('../../docs', import.meta.url));
const isExcluded = (path: string): boolean => /^(?:images|decisions|architecture|glossary)\b/.test(path);

let cachedSources: Promise<readonly PassageSource[]> | undefined;

const readPages = async (): Promise<readonly PassageSource[]> => {
  const paths: string[] = [];
  for await (const path of glob('**/*.md', { cwd: folder })) paths.push(path.replaceAll('\\', '/'));
  return Promise.all(
    paths
      .filter((path) => !isExcluded(path))
      .sort()
      .map(async (path): Promise<PassageSource> => {
        const { title, passages } = readDocument(await readFile(join(folder, path), 'utf8'), 'markdown');
        const url = path === 'README.md' ? '/docs' : `/docs/${path.replace(/\.md$/, '')}`;
        return { source: 'handbook', id: `docs/${path}`, title, url, passages };
      }),
  );
};

/** Returns all pages by path; they are read on the first call. */
export const readHandbook = (): Promise<readonly PassageSource[]> => {
  cachedSources ??= readPages();
  return cachedSources;
};
