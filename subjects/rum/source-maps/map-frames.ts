/** Maps frames of browsers to source files when they are read, by the source maps that are stored then. */
import { z } from 'zod';
import { type Cache, RowCache } from '../../../queries/row-cache.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import type { WorkerRequester } from '../../../queries/worker.ts';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { Filter, StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type SourceMap, sourceMapParts, sourceMaps } from '../../../schemas/resources/source-map.ts';
import { splitPath } from '../../errors/frame.ts';
import { frameMapping, type UnmappedReason } from '../../errors/occurrences.ts';
import { parseStack } from '../../errors/stack.ts';
import { getHost, isSameSite } from '../page-group.ts';
import { parseDebugId } from './parse-map.ts';
import { type SourcePosition, tracePositionsInWorker } from './stored-map.ts';

export const MappedFrame = z.strictObject({
  function: z.string().nullable(),
  file: z.string().nullable(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  isInApp: z.boolean().describe('Whether the frame belongs to the application itself, not to a library'),
  ...frameMapping,
});
export type MappedFrame = z.output<typeof MappedFrame>;

/** A frame as parsed */
export interface BrowserFrame {
  readonly function: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly isInApp: boolean;
}

/** Frames of an error, and what identifies the bundles of its page. */
export interface FrameSource {
  readonly application: string;
  /** Null if the error has none */
  readonly release: string | null;
  /** URL of the page; null if unknown */
  readonly url: string | null;
  /** Attributes of the event, in which SDKs send ids of bundles */
  readonly attributes: Readonly<Record<string, string>>;
  /** The raise site first */
  readonly frames: readonly BrowserFrame[];
}

/** Returns the frames of a stack, the raise site first; causes follow. */
export const parseBrowserFrames = (stack: string | null): BrowserFrame[] =>
  stack === null
    ? []
    : parseStack(stack).chain.flatMap(({ frames }) =>
        frames.map(({ function: name, file, line, column, name: { isInApp } }) => ({
          function: name === '' ? null : name,
          file: file === '' ? null : file,
          line: line ?? null,
          column: column ?? null,
          isInApp,
        })),
      );

type StoredSourceMap = SourceMap & StoredMetadata;
const maxMapsPerRead = 50;
const maxCandidates = 2_000;

/** Names of attributes with the debug ids of bundles: a JSON object by URL, or one id */
const debugIdAttributes = ['exception.debug_ids', 'debug_ids', 'debug_id'];
/** Attribute with the bundle id of Faro, of the resource of the event */
const bundleIdAttribute = 'app_bundle_id';

const parseDebugIds = (attributes: FrameSource['attributes']): ReadonlyMap<string, string> => {
  const ids = new Map<string, string>();
  for (const name of debugIdAttributes) {
    const value = attributes[name];
    if (value === undefined) continue;
    if (!value.startsWith('{')) {
      const id = parseDebugId(value);
      if (id !== '') ids.set('', id);
      continue;
    }
    try {
      for (const [url, id] of Object.entries(JSON.parse(value) as Record<string, unknown>)) {
        const debugId = parseDebugId(id);
        if (debugId !== '') ids.set(url, debugId);
      }
    } catch {
      // An attribute that an SDK truncated identifies no bundle.
    }
  }
  return ids;
};

const readBundleId = (attributes: FrameSource['attributes']): string => attributes[bundleIdAttribute] ?? '';

const endsWithPath = (path: readonly string[], end: readonly string[]): boolean =>
  end.length <= path.length && end.every((segment, index) => segment === path[path.length - end.length + index]);

/**
 * Returns the map of a file by its path: the one whose path ends the path of the URL, or is ended by it. A map of
 * another folder counts only if no other file has this name.
 */
export const findMapOfFile = <Map extends Pick<SourceMap, 'file' | 'baseName'>>(
  url: string,
  candidates: readonly Map[],
): Map | undefined => {
  const path = splitPath(url);
  const named = candidates.filter(({ baseName }) => baseName === path.at(-1));
  const matching = named
    .map((candidate) => ({ candidate, segments: splitPath(candidate.file) }))
    .filter(({ segments }) => endsWithPath(path, segments) || endsWithPath(segments, path));
  const [longest] = matching.sort((left, right) => right.segments.length - left.segments.length);
  if (longest !== undefined) return longest.candidate;
  return named.length === 1 ? named[0] : undefined;
};

/** Code that no page of the application loads, such as that of browser extensions */
const foreignSchemes = /^(?:[a-z-]*extension|chrome|resource|moz-extension|user-script|node):/i;

/** What identifies the bundles of one error. */
interface Bundles {
  readonly source: FrameSource;
  readonly debugIds: ReadonlyMap<string, string>;
  readonly bundleId: string;
}

const findMap = (
  file: string,
  { source, debugIds, bundleId }: Bundles,
  candidates: readonly StoredSourceMap[],
): StoredSourceMap | undefined => {
  const ofApplication = candidates.filter(({ application }) => application === source.application);
  const debugId = debugIds.get(file) ?? debugIds.get('');
  const byDebugId = debugId === undefined ? undefined : ofApplication.find((map) => map.debugId === debugId);
  if (byDebugId !== undefined) return byDebugId;
  const ofBundle = bundleId === '' ? [] : ofApplication.filter((map) => map.bundleId === bundleId);
  const ofRelease = source.release === null ? [] : ofApplication.filter(({ release }) => release === source.release);
  return findMapOfFile(file, ofBundle) ?? findMapOfFile(file, ofRelease);
};

const buildFilter = (bundles: readonly Bundles[]): Filter => {
  const names = new Set<string>();
  for (const { source } of bundles)
    for (const { file } of source.frames) if (file !== null) names.add(splitPath(file).at(-1) ?? '');
  const debugIds = [...new Set(bundles.flatMap((bundle) => [...bundle.debugIds.values()]))];
  const bundleIds = [...new Set(bundles.map(({ bundleId }) => bundleId))].filter((id) => id !== '');
  const releases = [...new Set(bundles.flatMap(({ source: { release } }) => (release === null ? [] : [release])))];
  return {
    application: { $in: [...new Set(bundles.map(({ source }) => source.application))] },
    $or: [
      { baseName: { $in: [...names] }, release: { $in: releases } },
      { baseName: { $in: [...names] }, bundleId: { $in: bundleIds } },
      { debugId: { $in: debugIds } },
    ],
  };
};

type CachedResult = SourcePosition | 'outside';
/** Results by map and position. A map never changes. */
const tracedPositions = new RowCache<CachedResult>(100_000);

interface Position {
  readonly line: number;
  readonly column: number;
}
const toKey = (map: StoredSourceMap, { line, column }: Position): string => `${map.id} ${line}:${column}`;

const readContent = async (documents: TenantDocuments, map: StoredSourceMap): Promise<Buffer | undefined> => {
  const parts: string[] = [];
  for await (const { part, content } of iterateDocuments(documents.collection(sourceMapParts), {
    filter: { mapId: map.id },
    limit: 10,
  }))
    parts[part] = content;
  // A map that is being replaced has no complete content.
  if (parts.length !== map.parts || parts.includes(undefined as unknown as string)) return undefined;
  return Buffer.from(parts.join(''), 'base64');
};

/** What reading source maps needs of a request. */
export interface MapReader {
  readonly columns: TenantReader['columns'];
  readonly documents: TenantDocuments;
  readonly requester: WorkerRequester;
}

/** A frame, and the map of its file or why there is none. */
interface Lookup {
  readonly frame: BrowserFrame;
  readonly position: Position;
  readonly map: StoredSourceMap | UnmappedReason;
}

const noPosition: Position = { line: 0, column: 0 };

const listCandidates = async ({ documents }: MapReader, bundles: readonly Bundles[]): Promise<StoredSourceMap[]> => {
  const maps: StoredSourceMap[] = [];
  for await (const map of iterateDocuments(documents.collection(sourceMaps), {
    filter: buildFilter(bundles),
    sort: { createdAt: -1 },
  })) {
    maps.push(map);
    if (maps.length === maxCandidates) break;
  }
  return maps;
};

/** Returns whether each release of an application has maps, by `application` and `release`. */
const createReleaseCheck = ({ documents }: MapReader) => {
  const counts = new Map<string, Promise<number>>();
  return async (application: string, release: string): Promise<boolean> => {
    const key = JSON.stringify([application, release]);
    const count = counts.get(key) ?? documents.collection(sourceMaps).count({ application, release });
    counts.set(key, count);
    return (await count) > 0;
  };
};

/** Returns why no map was found for a file. */
const explainMissing = async (
  file: string,
  { source, bundleId, debugIds }: Bundles,
  hasMaps: (application: string, release: string) => Promise<boolean>,
): Promise<UnmappedReason> => {
  const isOfSite = isSameSite(getHost(source.url ?? ''), getHost(file));
  if (foreignSchemes.test(file) || isOfSite === false) return 'third-party';
  if (source.release === null) return bundleId === '' && debugIds.size === 0 ? 'no-release' : 'no-map';
  return (await hasMaps(source.application, source.release)) ? 'file-not-found' : 'no-map';
};

type TraceResult = SourcePosition | UnmappedReason;

/** Returns the results of positions of one map; none if the map was replaced meanwhile. */
const traceMap = async (
  reader: MapReader,
  map: StoredSourceMap,
  positions: readonly Position[],
): Promise<readonly CachedResult[]> => {
  const content = await readContent(reader.documents, map);
  if (content === undefined) return [];
  const results = await tracePositionsInWorker(reader.requester, content, positions);
  return results.map((result) => result ?? 'outside');
};

/** Positions of one read of stacks, with the results that are known. */
class Tracer {
  readonly #reader: MapReader;
  readonly #cache: Cache<CachedResult>;
  readonly #found = new Map<string, CachedResult>();
  readonly #unreadMaps = new Set<StoredSourceMap>();
  #readMaps = 0;

  constructor(reader: MapReader) {
    this.#reader = reader;
    this.#cache = tracedPositions.forTenant(reader.columns);
  }

  /** Reads a map for those positions that are not known. */
  async read(map: StoredSourceMap, positions: readonly Position[]): Promise<void> {
    const missing = new Map<string, Position>();
    for (const position of positions) {
      const key = toKey(map, position);
      const cached = this.#cache.get(key);
      if (cached === undefined) missing.set(key, position);
      else this.#found.set(key, cached);
    }
    if (missing.size === 0) return;
    if (++this.#readMaps > maxMapsPerRead) {
      this.#unreadMaps.add(map);
      return;
    }
    const results = await traceMap(this.#reader, map, [...missing.values()]);
    for (const [index, key] of [...missing.keys()].entries()) {
      const result = results[index];
      if (result === undefined) continue;
      this.#found.set(key, result);
      this.#cache.set(key, result);
    }
  }

  getResult({ map, position }: Lookup): TraceResult {
    if (typeof map === 'string') return map;
    const result = this.#found.get(toKey(map, position)) ?? (this.#unreadMaps.has(map) ? 'too-many-files' : 'no-map');
    return result === 'outside' ? 'position-outside' : result;
  }
}

const toFramePosition = ({ function: name, file, line, column }: BrowserFrame) => ({
  function: name,
  file,
  line,
  column,
});

/**
 * Returns the name of a frame's function: that of the source around the position. Without the text of the source, the
 * name at the call in the next frame, because maps name identifiers where they are used; otherwise as recorded.
 */
const readFunctionName = (
  frame: BrowserFrame,
  { functionName }: SourcePosition,
  caller: TraceResult | undefined,
): string | null => {
  if (functionName !== null) return functionName === '' ? null : functionName;
  if (frame.function === null || caller === undefined || typeof caller === 'string') return frame.function;
  return caller.identifier ?? frame.function;
};

const toMappedFrame = (frame: BrowserFrame, result: TraceResult, caller: TraceResult | undefined): MappedFrame => {
  if (typeof result === 'string')
    return { ...toFramePosition(frame), isInApp: frame.isInApp, generated: null, unmappedReason: result };
  return {
    function: readFunctionName(frame, result, caller),
    file: result.file,
    line: result.line,
    column: result.column,
    isInApp: !result.isLibrary,
    generated: toFramePosition(frame),
    unmappedReason: null,
  };
};

/** Returns the frames of each error, mapped where a stored source map has them. */
export const mapFrames = async (reader: MapReader, sources: readonly FrameSource[]): Promise<MappedFrame[][]> => {
  const bundles = sources.map(
    (source): Bundles => ({
      source,
      debugIds: parseDebugIds(source.attributes),
      bundleId: readBundleId(source.attributes),
    }),
  );
  if (sources.every(({ frames }) => frames.length === 0)) return sources.map(() => []);
  const candidates = await listCandidates(reader, bundles);
  const hasMaps = createReleaseCheck(reader);
  const lookups: Lookup[][] = [];
  for (const bundle of bundles) {
    const ofError: Lookup[] = [];
    for (const frame of bundle.source.frames) {
      const { file, line, column } = frame;
      if (file === null || line === null || column === null) {
        ofError.push({ frame, position: noPosition, map: 'no-position' });
        continue;
      }
      const map = findMap(file, bundle, candidates) ?? (await explainMissing(file, bundle, hasMaps));
      ofError.push({ frame, position: { line, column }, map });
    }
    lookups.push(ofError);
  }
  const tracer = new Tracer(reader);
  for (const [map, ofMap] of Map.groupBy(lookups.flat(), (lookup) => lookup.map))
    if (typeof map !== 'string')
      await tracer.read(
        map,
        ofMap.map(({ position }) => position),
      );
  const read = (lookup: Lookup | undefined): TraceResult | undefined =>
    lookup === undefined ? undefined : tracer.getResult(lookup);
  return lookups.map((ofError) =>
    ofError.map((lookup, index) => toMappedFrame(lookup.frame, read(lookup) ?? 'no-map', read(ofError[index + 1]))),
  );
};
