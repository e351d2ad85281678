/** `oiq source-maps`: uploads the source maps of a build through the API, for use in a pipeline. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Zippable, zipSync } from 'fflate';
import { readAcceptedJson, requireToken, resolveApiAddress, sendRequest } from './api-request.ts';
import { parseArguments } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq source-maps upload DIR --application NAME [--release RELEASE] [--bundle-id ID] [--api URL]

Uploads the source maps below a folder with their bundles. Paths of bundles are those relative to the folder, so upload the
folder that is served. A repeated upload changes nothing. Sources that a map does not contain are read from the disk: functions
are named by them. OIQ does not store the text of sources.
--application is the service.name of the pages, --release their service.version.
Without --release, each map needs a debug id (ECMA-426), or its bundle the bundle id of Grafana Faro (--bundle-id).

SOURCE_MAPS_TOKEN in the environment is an API token with the scope rum:write. The exit status is 1 if a map was refused.
`;

const options = {
  api: { type: 'string' },
  application: { type: 'string' },
  release: { type: 'string' },
  'bundle-id': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Longer than the maximum time that the API needs */
const requestTimeoutMs = 130_000;
/** Bytes of the files of one request, unless a map alone is larger */
const maxBatchBytes = 24 * 1024 * 1024;
const maxSourceBytes = 2 * 1024 * 1024;

const mapPattern = /(?<!\.css|\.d\.[cm]?ts|\.d\.ts)\.map$/i;
const sourcePattern = /\.[cm]?[jt]sx?$/i;

interface Item {
  readonly name: string;
  readonly file: string;
  readonly outcome: 'created' | 'replaced' | 'unchanged' | 'refused';
  readonly message: string;
}

const toPortablePath = (path: string): string => path.split(sep).join('/');

/** Returns the maps below a folder, relative to it. Dependencies of a build are not part of it. */
const listMaps = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && mapPattern.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(sep).includes('node_modules'))
    .toSorted();
};

const readIfSmall = async (path: string): Promise<string | null> => {
  try {
    if ((await stat(path)).size > maxSourceBytes) return null;
    return await readFile(path, 'utf8');
  } catch {
    // A source that is not on this machine stays unknown: its functions have the names of the map.
    return null;
  }
};

/** Returns the path of a source on the disk; undefined for a source that is not a file. */
const findSourceFile = (mapPath: string, sourceRoot: string, source: string): string | undefined => {
  const path = sourceRoot === '' ? source : `${sourceRoot.replace(/\/$/, '')}/${source}`;
  if (!sourcePattern.test(path)) return undefined;
  if (path.startsWith('file://')) return fileURLToPath(path);
  return /^[a-z][\w+.-]*:/i.test(path) ? undefined : resolve(dirname(mapPath), path);
};

/** Returns a map with the text of its sources, as far as they are on the disk. A map that is not JSON is rejected later. */
const addSources = async (mapPath: string, bytes: Buffer): Promise<Buffer> => {
  let map: { sources?: unknown; sourcesContent?: unknown; sourceRoot?: unknown };
  try {
    map = JSON.parse(bytes.toString('utf8')) as typeof map;
  } catch {
    return bytes;
  }
  const { sources, sourceRoot } = map ?? {};
  if (!Array.isArray(sources)) return bytes;
  const existing: readonly unknown[] = Array.isArray(map.sourcesContent) ? map.sourcesContent : [];
  if (sources.every((_, index) => typeof existing[index] === 'string')) return bytes;
  const root = typeof sourceRoot === 'string' ? sourceRoot : '';
  const sourcesContent = await Promise.all(
    sources.map(async (source: unknown, index) => {
      if (typeof existing[index] === 'string') return existing[index];
      const path = typeof source === 'string' ? findSourceFile(mapPath, root, source) : undefined;
      return path === undefined ? null : readIfSmall(path);
    }),
  );
  return Buffer.from(JSON.stringify({ ...map, sourcesContent }));
};

const readBundle = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path);
  } catch {
    // Some builds write maps into another folder than bundles; the map then names its bundle.
    return undefined;
  }
};

/** Yields archives of maps with their bundles. */
async function* packMaps(folder: string, paths: readonly string[]): AsyncGenerator<Uint8Array> {
  let files: Zippable = {};
  let size = 0;
  for (const path of paths) {
    const mapPath = join(folder, path);
    const map = await addSources(mapPath, await readFile(mapPath));
    const bundle = await readBundle(mapPath.replace(/\.map$/i, ''));
    const added = map.length + (bundle?.length ?? 0);
    if (size > 0 && size + added > maxBatchBytes) {
      yield zipSync(files);
      files = {};
      size = 0;
    }
    size += added;
    files[toPortablePath(path)] = map;
    if (bundle !== undefined) files[toPortablePath(path).replace(/\.map$/i, '')] = bundle;
  }
  if (size > 0) yield zipSync(files);
}

const formatItem = ({ name, file, outcome, message }: Item): string =>
  `${outcome.padEnd(9)} ${name}${file === '' ? '' : ` for ${file}`}${message === '' ? '' : `: ${message}`}\n`;

const printReport = (items: readonly Item[], evicted: number): void => {
  for (const item of items) if (item.outcome !== 'unchanged') process.stdout.write(formatItem(item));
  const count = (outcome: Item['outcome']): number => items.filter((item) => item.outcome === outcome).length;
  process.stdout.write(
    `${count('created')} created, ${count('replaced')} replaced, ${count('unchanged')} unchanged, ${count('refused')} refused\n`,
  );
  if (evicted > 0)
    process.stdout.write(`${evicted} oldest maps of the organization were deleted, because its limit was reached\n`);
  if (count('refused') > 0) process.exitCode = 1;
};

export const sourceMapsCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { values, positionals } = parseArguments(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const [verb, folder, ...more] = positionals;
  if (verb !== 'upload' || folder === undefined || more.length > 0)
    throw new UsageError(`specify upload and one folder\n\n${help}`);
  if (values.application === undefined) throw new UsageError(`--application is required\n\n${help}`);
  const token = requireToken(environment, 'SOURCE_MAPS_TOKEN', help);
  const url = new URL('/api/rum/source-maps', resolveApiAddress(values.api, environment));
  url.searchParams.set('application', values.application);
  if (values.release !== undefined) url.searchParams.set('release', values.release);
  if (values['bundle-id'] !== undefined) url.searchParams.set('bundleId', values['bundle-id']);
  const paths = await listMaps(folder);
  if (paths.length === 0) throw new Error(`${folder} contains no source maps: no file ends with .map`);
  const items: Item[] = [];
  let evicted = 0;
  for await (const archive of packMaps(folder, paths)) {
    const request = { token, timeoutMs: requestTimeoutMs, method: 'POST', archive };
    const body = await readAcceptedJson(await sendRequest(url, request), String(url));
    const response = body as { readonly items: readonly Item[]; readonly evicted: number };
    items.push(...response.items);
    evicted += response.evicted;
  }
  printReport(items, evicted);
};
