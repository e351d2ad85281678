/** Reads an upload of source maps: one map, or a zip archive with maps and the bundles that they belong to. */
import { runInWorker } from '../../../queries/worker.ts';
import { computeHashId } from '../../../runtime/hash-id.ts';
import { extractZipFiles } from '../../../runtime/zip-archive.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import { maxMapBytes, parseDebugId, parseSourceMap } from './parse-map.ts';
import { encodeStoredMap } from './stored-map.ts';

export interface UploadedFile {
  /** Path in the archive; that of the request for a single map */
  readonly name: string;
  readonly content: Uint8Array;
}

/** A map to store. */
export interface PreparedMap {
  readonly name: string;
  /** Path of the bundle; empty if nothing names it */
  readonly file: string;
  readonly debugId: string;
  readonly bundleId: string;
  readonly contentHash: string;
  readonly sources: number;
  readonly bytes: number;
  /** Base64 of the stored form */
  readonly content: string;
}

export type UploadResult = PreparedMap | { readonly name: string; readonly problem: string };

const limits = {
  accepts: (name: string): boolean => /\.(?:map|[cm]?js)$/i.test(name),
  maxFiles: 5_000,
  maxBytes: 192 * 1024 * 1024,
};

/** What a bundle says about its map. */
interface BundleFacts {
  readonly file: string;
  readonly mapName: string;
  readonly debugId: string;
  readonly bundleId: string;
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** Resolves a path of an archive relative to another one. */
const resolvePath = (base: string, path: string): string => {
  const url = new URL(path, `file:///${folderOf(base).split('/').map(encodeURIComponent).join('/')}`);
  return decodeURIComponent(url.pathname.slice(1));
};

const tryResolve = (base: string, path: string): string => {
  try {
    return resolvePath(base, path);
  } catch {
    return '';
  }
};

/** Comments are at the end of a bundle, and the snippet with Faro's bundle id is at one of its ends. */
const endLength = 64 * 1024;

/** Returns the first characters after the last occurrence of a text, up to a line break, a blank or a quote. */
const readAfterLast = (text: string, start: string): string => {
  const at = text.lastIndexOf(start);
  return at < 0 ? '' : (/^[^\s'"]{1,1024}/.exec(text.slice(at + start.length))?.[0] ?? '');
};

const bundleIdStart = '__faroBundleId_';
/** Returns the id that the snippet of Faro's bundler plugins assigns. */
const readBundleId = (text: string): string => {
  const at = text.indexOf(bundleIdStart);
  if (at < 0) return '';
  const snippet = text.slice(at + bundleIdStart.length, at + 512);
  const value = snippet.slice(snippet.indexOf('=') + 1).trimStart();
  return /^["']([\w.-]{1,128})["']/.exec(value)?.[1] ?? '';
};

const readBundle = (file: string, content: Buffer): BundleFacts => {
  const end = content.subarray(-endLength).toString('latin1');
  const start = content.subarray(0, endLength).toString('latin1');
  const mapUrl = readAfterLast(end, ' sourceMappingURL=');
  return {
    file,
    mapName: mapUrl === '' || mapUrl.startsWith('data:') ? `${file}.map` : tryResolve(file, mapUrl),
    debugId: parseDebugId(readAfterLast(end, '//# debugId=')),
    bundleId: readBundleId(start) || readBundleId(end),
  };
};

/** Returns the path of the bundle that a map names, in the folder of the map. */
const resolveFile = (name: string, file: string): string => {
  if (file !== '') {
    // Some bundlers write the path from the root of their output.
    const resolved = file.includes('/') && name.endsWith(`${file}.map`) ? file : tryResolve(name, file);
    if (resolved !== '') return resolved;
  }
  return name.replace(/\.map$/i, '');
};

const prepareMap = ({ name, content }: UploadedFile, bundle: BundleFacts | undefined): UploadResult => {
  try {
    const parsed = parseSourceMap(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
    const stored = encodeStoredMap(parsed).toString('base64');
    return {
      name,
      file: bundle?.file ?? resolveFile(name, parsed.file),
      debugId: parsed.debugId || (bundle?.debugId ?? ''),
      bundleId: bundle?.bundleId ?? '',
      contentHash: computeHashId(stored),
      sources: parsed.map.sources.length,
      bytes: content.byteLength,
      content: stored,
    };
  } catch (error) {
    if (error instanceof PermanentError) return { name, problem: error.message };
    throw error;
  }
};

/** Returns the maps of an archive, or its problem. Bundles without a map in it are not reported. */
export const readArchiveMaps = (archive: Uint8Array): readonly UploadResult[] | { readonly problem: string } => {
  try {
    const files = extractZipFiles(archive, limits);
    const maps = files.filter(([name]) => /\.map$/i.test(name) && !/\.(?:css|d\.[cm]?ts)\.map$/i.test(name));
    const bundles = new Map(
      files
        .filter(([name]) => !/\.map$/i.test(name))
        .map(([name, content]) => readBundle(name, content))
        .map((bundle) => [bundle.mapName, bundle]),
    );
    return maps.map(([name, content]) => prepareMap({ name, content }, bundles.get(name)));
  } catch (error) {
    if (error instanceof PermanentError) return { problem: error.message };
    throw error;
  }
};

/** Returns a single map, or its problem. */
export const readSingleMap = (content: Uint8Array, file: string): readonly UploadResult[] => {
  const result = prepareMap({ name: file === '' ? '' : `${file}.map`, content }, undefined);
  return [file === '' || 'problem' in result ? result : { ...result, file }];
};

const options = { pool: 'sourceMaps' } as const;
export const readArchiveMapsInWorker = runInWorker(import.meta.url, readArchiveMaps, options);
export const readSingleMapInWorker = runInWorker(import.meta.url, readSingleMap, options);
export { maxMapBytes };
