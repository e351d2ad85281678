/** The page as served by the API: a document, and files with content hashes in their names */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { builtPage } from './build.ts';
import type { Restriction } from './restriction.ts';

export type { Restriction };

/** A file of the page, which is immutable: other content has another name */
export interface PageFile {
  readonly contentType: string;
  /** Compressed with gzip */
  readonly content: Buffer;
}

/** The document, its content security policy, and its files */
export interface BuiltDocument {
  /** Returns the document for an API with the given restrictions. */
  documentWith(restrictions: readonly Restriction[]): string;
  /** `Content-Security-Policy`. */
  readonly policy: string;
  readonly files: ReadonlyMap<string, PageFile>;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Restrictions are in a data block: the policy permits it, and `<` cannot end it. */
const documentOf = (script: string, style: string, restrictions: readonly Restriction[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>OIQ</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/${style}"><script type="module" src="/assets/${script}"></script></head><body><div id="page"><main class="said"><p>Loading…</p></main></div><script type="application/json" id="restrictions">${JSON.stringify(restrictions).replaceAll('<', '\\u003c')}</script><noscript>This page requires JavaScript. The API works without it: see /api/docs.</noscript></body></html>\n`;

/** Builds the page if necessary, and reads it into memory, compressed. */
export const openPage = async (): Promise<BuiltDocument> => {
  const { directory, script, style } = await builtPage();
  const files = readdirSync(directory).flatMap((name): [string, PageFile][] => {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) return [];
    return [[name, { contentType, content: gzipSync(readFileSync(join(directory, name)), { level: 9 }) }]];
  });
  return {
    documentWith: (restrictions) => documentOf(script, style, restrictions),
    policy,
    files: new Map(files),
  };
};
