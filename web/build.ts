/** Builds the page with esbuild into files with hashed names. To run it alone: `node bin/node.mjs web/build.ts`. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cacheDirectory = join(root, 'node_modules/.cache/oiq-web');
const listFile = join(cacheDirectory, 'built.json');

/** Result of a build of the page and of the scripts for other pages */
export interface PageBuild {
  /** Directory of the files */
  readonly directory: string;
  /** Names of the entry files in that directory */
  readonly script: string;
  readonly style: string;
  /** Paths of the scripts for pages of others in that directory, by their name */
  readonly browserScripts: Readonly<Record<BrowserScriptName, string>>;
}

export type BrowserScriptName = 'oiq.js' | 'replay.js' | 'player.js';

interface StoredBuild extends PageBuild {
  /** Hash of each source by its path from the root */
  readonly sources: Readonly<Record<string, string>>;
}

const hashFile = (path: string): string =>
  existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';

/** Returns the sources of the page; the lock file stands for all packages. */
const toSourcePaths = (inputs: readonly string[]): string[] => [
  'package-lock.json',
  'web/build.ts',
  ...inputs.filter((path) => !path.startsWith('node_modules/')),
];

const readFreshBuild = (): StoredBuild | undefined => {
  if (!existsSync(listFile)) return undefined;
  const storedBuild = JSON.parse(readFileSync(listFile, 'utf8')) as StoredBuild;
  const isFresh = Object.entries(storedBuild.sources).every(([path, hash]) => hashFile(join(root, path)) === hash);
  return isFresh && existsSync(join(cacheDirectory, storedBuild.directory)) ? storedBuild : undefined;
};

const bundlePage = async (outdir: string) => {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    metafile: true,
    target: 'es2023',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    entryPoints: [
      { in: 'web/main.tsx', out: 'main' },
      { in: 'web/style/page.css', out: 'page' },
    ],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return metafile;
};

/** Bundles the scripts for pages of others, each in one file that runs in older browsers too. */
const bundleBrowserScripts = async (outdir: string) => {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    outdir: join(outdir, 'rum'),
    bundle: true,
    format: 'iife',
    minify: true,
    metafile: true,
    target: 'es2020',
    platform: 'browser',
    legalComments: 'none',
    entryPoints: [
      { in: 'web/browser-script/core.ts', out: 'oiq' },
      { in: 'web/browser-script/recorder.ts', out: 'replay' },
      { in: 'web/browser-script/player.ts', out: 'player' },
    ],
    entryNames: '[name]-[hash]',
    logLevel: 'silent',
  });
  return metafile;
};

const buildPage = async (): Promise<StoredBuild> => {
  mkdirSync(cacheDirectory, { recursive: true });
  const outputDirectory = join(cacheDirectory, `made-${process.pid}-${Date.now()}`);
  const builds = [await bundlePage(outputDirectory), await bundleBrowserScripts(outputDirectory)];
  const inputs = builds.flatMap((metafile) => Object.keys(metafile.inputs));
  const outputs = builds.flatMap((metafile) => Object.keys(metafile.outputs));
  const names = outputs.map((path) => relative(outputDirectory, join(root, path)));
  const findName = (pattern: RegExp): string => names.find((name) => pattern.test(name)) ?? '';
  const directory = createHash('sha256').update(names.sort().join()).digest('hex').slice(0, 16);
  // A concurrent build with the same result may have created the directory.
  if (existsSync(join(cacheDirectory, directory))) rmSync(outputDirectory, { recursive: true });
  else renameSync(outputDirectory, join(cacheDirectory, directory));
  const sources = Object.fromEntries(toSourcePaths(inputs).map((path) => [path, hashFile(join(root, path))]));
  const built: StoredBuild = {
    directory,
    script: findName(/^main-.*\.js$/),
    style: findName(/^page-.*\.css$/),
    browserScripts: {
      'oiq.js': findName(/^rum\/oiq-.*\.js$/),
      'replay.js': findName(/^rum\/replay-.*\.js$/),
      'player.js': findName(/^rum\/player-.*\.js$/),
    },
    sources,
  };
  const temporaryFile = `${listFile}.${process.pid}`;
  writeFileSync(temporaryFile, JSON.stringify(built));
  renameSync(temporaryFile, listFile);
  return built;
};

/** Returns the build of the page. Builds it if it is missing or if its sources have changed. */
export const ensurePageBuilt = async (): Promise<PageBuild> => {
  const { sources: _sources, directory, ...names } = readFreshBuild() ?? (await buildPage());
  return { directory: join(cacheDirectory, directory), ...names };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { directory } = await ensurePageBuilt();
  process.stdout.write(`The page is in ${relative(dirname(cacheDirectory), directory)}.\n`);
}
