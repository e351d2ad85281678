/** The documentation of `docs/` at `/docs`: pages, their images, and the search. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readHandbook } from '../../../subjects/runbooks/handbook.ts';
import { PassageIndex } from '../../../subjects/runbooks/passage-index.ts';
import type { Page } from '../html.ts';
import { renderDocsPage, renderMissingPage, renderSearchPage } from './render.ts';

const folder = fileURLToPath(new URL('../../../docs/', import.meta.url));
const prefix = '/docs';

/** Names of pages and images: folders and words of small letters, digits and hyphens */
const namePattern = /^[a-z0-9-]+(?:\/[a-z0-9-]+)*$/;
const imagePattern = /^images\/[a-z0-9-]+\.webp$/;

const maxSearchResults = 20;

export interface DocsImage {
  readonly contentType: string;
  readonly content: Uint8Array;
}

const readIfExists = async (name: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(`${folder}${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

let indexPromise: Promise<PassageIndex> | undefined;

const buildIndex = async (): Promise<PassageIndex> => {
  const index = new PassageIndex();
  for (const source of await readHandbook()) await index.add(source.id, source);
  return index;
};

const searchDocs = async (search: string): Promise<Page> => {
  indexPromise ??= buildIndex();
  const passages = (await indexPromise).search(search, { from: new Set(['handbook']), limit: maxSearchResults });
  return renderSearchPage(search, passages, await readContents());
};

const readContents = async (): Promise<string> => String((await readIfExists('README.md')) ?? '');

/** Returns whether a path is one of the documentation. */
export const isDocsPath = (path: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

/** Returns an image of the documentation; undefined if there is none at this path. */
export const findDocsImage = async (path: string): Promise<DocsImage | undefined> => {
  const name = path.slice(prefix.length + 1);
  const content = imagePattern.test(name) ? await readIfExists(name) : undefined;
  return content === undefined ? undefined : { contentType: 'image/webp', content };
};

/** Returns a page of the documentation, or one that lists what was found, with the status of the response. */
export const loadDocsPage = async (
  path: string,
  search: string,
): Promise<{ readonly page: Page; readonly status: number }> => {
  if (search !== '') return { page: await searchDocs(search), status: 200 };
  const name = path.slice(prefix.length + 1).replace(/\/$/, '');
  const file = name === '' ? 'README.md' : `${name}.md`;
  const markdown = name === '' || namePattern.test(name) ? await readIfExists(file) : undefined;
  const contents = await readContents();
  return markdown === undefined
    ? { page: renderMissingPage(contents), status: 404 }
    : { page: renderDocsPage(file, String(markdown), contents), status: 200 };
};
