/** The page as the API serves it: an HTML document, and files with content hashes in their names */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BrowserScriptName, ensurePageBuilt } from './build.ts';
import type { Restriction } from './restriction.ts';

export type { BrowserScriptName, Restriction };

/** File of the page. It is immutable, because different content has a different name. */
export interface PageFile {
  readonly contentType: string;
  /** Compressed with gzip */
  readonly content: Buffer;
}

/** HTML document of the page, with its content security policy and files */
export interface PageDocument {
  /** Returns the document for an API with the given restrictions. */
  renderDocument(restrictions: readonly Restriction[]): string;
  /** `Content-Security-Policy`. */
  readonly policy: string;
  readonly files: ReadonlyMap<string, PageFile>;
  /** Scripts for pages of others */
  readonly browserScripts: Readonly<Record<BrowserScriptName, BrowserScript>>;
}

export interface BrowserScript extends PageFile {
  /** Changes with the content */
  readonly version: string;
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
  // The frame that plays recordings of sessions (`/rum/player`)
  "frame-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Returns the HTML. Restrictions are in a data block, which the policy allows; `<` is escaped so it cannot end it. */
const renderHtml = (script: string, style: string, restrictions: readonly Restriction[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>OIQ</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/${style}"><script type="module" src="/assets/${script}"></script></head><body><div id="page"><main class="said"><p>Loading…</p></main></div><script type="application/json" id="restrictions">${JSON.stringify(restrictions).replaceAll('<', '\\u003c')}</script><noscript>This page requires JavaScript. The API works without it: see /api/docs.</noscript></body></html>\n`;

const compressFile = (path: string): Buffer => gzipSync(readFileSync(path), { level: 9 });

/** Builds the page if necessary, and loads its compressed files into memory. */
export const openPage = async (): Promise<PageDocument> => {
  const { directory, script, style, browserScripts } = await ensurePageBuilt();
  const files = readdirSync(directory).flatMap((name): [string, PageFile][] => {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) return [];
    return [[name, { contentType, content: compressFile(join(directory, name)) }]];
  });
  const readBrowserScript = (path: string): BrowserScript => ({
    contentType: contentTypes['.js'] ?? '',
    content: compressFile(join(directory, path)),
    version: basename(path, '.js'),
  });
  return {
    renderDocument: (restrictions) => renderHtml(script, style, restrictions),
    policy,
    files: new Map(files),
    browserScripts: {
      'oiq.js': readBrowserScript(browserScripts['oiq.js']),
      'replay.js': readBrowserScript(browserScripts['replay.js']),
      'player.js': readBrowserScript(browserScripts['player.js']),
    },
  };
};
