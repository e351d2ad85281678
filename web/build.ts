/** Builds the page with esbuild, into files with their hash in the name. Standalone: `node bin/node.mjs web/build.ts`. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'node_modules/.cache/oiq-web');
const listFile = join(home, 'built.json');

/** The last build with its sources */
export interface Built {
  /** Directory of the files */
  readonly directory: string;
  /** Names of the entry files in that directory */
  readonly script: string;
  readonly style: string;
}

interface BuiltFrom extends Built {
  /** Hash of each source by its path from the root */
  readonly sources: Readonly<Record<string, string>>;
}

const hashOf = (path: string): string =>
  existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';

/** The lock file identifies packages. */
const ownSources = (inputs: readonly string[]): string[] => [
  'package-lock.json',
  'web/build.ts',
  ...inputs.filter((path) => !path.startsWith('node_modules/')),
];

const builtBefore = (): BuiltFrom | undefined => {
  if (!existsSync(listFile)) return undefined;
  const before = JSON.parse(readFileSync(listFile, 'utf8')) as BuiltFrom;
  const isFresh = Object.entries(before.sources).every(([path, hash]) => hashOf(join(root, path)) === hash);
  return isFresh && existsSync(join(home, before.directory)) ? before : undefined;
};

const bundle = async (outdir: string) => {
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

const buildFresh = async (): Promise<BuiltFrom> => {
  mkdirSync(home, { recursive: true });
  const made = join(home, `made-${process.pid}-${Date.now()}`);
  const { inputs, outputs } = await bundle(made);
  const names = Object.keys(outputs).map((path) => relative(made, join(root, path)));
  const named = (pattern: RegExp): string => names.find((name) => pattern.test(name)) ?? '';
  const directory = createHash('sha256').update(names.sort().join()).digest('hex').slice(0, 16);
  // Two concurrent builds have the same result.
  if (existsSync(join(home, directory))) rmSync(made, { recursive: true });
  else renameSync(made, join(home, directory));
  const sources = Object.fromEntries(ownSources(Object.keys(inputs)).map((path) => [path, hashOf(join(root, path))]));
  const built = { directory, script: named(/^main-.*\.js$/), style: named(/^page-.*\.css$/), sources };
  const written = `${listFile}.${process.pid}`;
  writeFileSync(written, JSON.stringify(built));
  renameSync(written, listFile);
  return built;
};

/** Returns the built page. It is built if it is missing or its sources have changed. */
export const builtPage = async (): Promise<Built> => {
  const { directory, script, style } = builtBefore() ?? (await buildFresh());
  return { directory: join(home, directory), script, style };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { directory } = await builtPage();
  process.stdout.write(`The page is in ${relative(dirname(home), directory)}.\n`);
}
