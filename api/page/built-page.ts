import { type BuiltDocument, openPage, type PageFile, type Restriction } from '../../web/index.ts';
import type { Page } from './html.ts';

/** Paths of the files of the built page. */
const files = '/assets/';

let opened: Promise<BuiltDocument> | undefined;

/** The page is built and read when it is first asked for; a build that failed is tried again. */
const page = (): Promise<BuiltDocument> => {
  opened ??= openPage().catch((error: unknown) => {
    opened = undefined;
    throw new Error('the page could not be built', { cause: error });
  });
  return opened;
};

/** The document, in which the address says what is shown. */
export const builtPage = async (restrictions: readonly Restriction[]): Promise<Page> => {
  const { documentWith, policy } = await page();
  return { body: documentWith(restrictions), policy };
};

/** The name of a file of the page; undefined for a path that is the document's. */
export const fileNameIn = (path: string): string | undefined =>
  path.startsWith(files) ? path.slice(files.length) : undefined;

/** A file of the page; undefined where there is none of this name. */
export const pageFile = async (name: string): Promise<PageFile | undefined> => (await page()).files.get(name);
