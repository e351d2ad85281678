import { type BuiltDocument, openPage, type PageFile, type Restriction } from '../../web/index.ts';
import type { Page } from './html.ts';

/** Path prefix of the files of the built page */
const files = '/assets/';

let opened: Promise<BuiltDocument> | undefined;

/** The page is built and read on first use; a failed build is retried. */
const page = (): Promise<BuiltDocument> => {
  opened ??= openPage().catch((error: unknown) => {
    opened = undefined;
    throw new Error('the page could not be built', { cause: error });
  });
  return opened;
};

/** Returns the document of the page; the address determines its content. */
export const builtPage = async (restrictions: readonly Restriction[]): Promise<Page> => {
  const { documentWith, policy } = await page();
  return { body: documentWith(restrictions), policy };
};

/** Returns the name of a file of the page; undefined for a path of the document. */
export const fileNameIn = (path: string): string | undefined =>
  path.startsWith(files) ? path.slice(files.length) : undefined;

/** Returns a file of the page; undefined if there is none with this name. */
export const pageFile = async (name: string): Promise<PageFile | undefined> => (await page()).files.get(name);
