import {
  type BrowserScript,
  type BrowserScriptName,
  openPage,
  type PageDocument,
  type PageFile,
  type Restriction,
} from '../../web/index.ts';
import type { Page } from './html.ts';

/** Path prefix of the files of the built page */
const filesPrefix = '/assets/';

let pagePromise: Promise<PageDocument> | undefined;

/** The page is built and read on first use; a failed build is retried. */
const loadPage = (): Promise<PageDocument> => {
  pagePromise ??= openPage().catch((error: unknown) => {
    pagePromise = undefined;
    throw new Error('the page could not be built', { cause: error });
  });
  return pagePromise;
};

/** Returns the document of the page; the address determines its content. */
export const renderBuiltPage = async (restrictions: readonly Restriction[]): Promise<Page> => {
  const { renderDocument, policy } = await loadPage();
  return { body: renderDocument(restrictions), policy };
};

/** Returns the name of a file of the page; undefined for a path of the document. */
export const parseFileName = (path: string): string | undefined =>
  path.startsWith(filesPrefix) ? path.slice(filesPrefix.length) : undefined;

/** Returns a file of the page; undefined if there is none with this name. */
export const findPageFile = async (name: string): Promise<PageFile | undefined> => (await loadPage()).files.get(name);

/** Returns a script for pages of others. */
export const loadBrowserScript = async (name: BrowserScriptName): Promise<BrowserScript> =>
  (await loadPage()).browserScripts[name];
