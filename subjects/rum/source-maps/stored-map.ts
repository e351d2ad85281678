/** The stored form of a source map: mappings, names and functions, without the text of the sources. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { encodedMappings, TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import { runInWorker } from '../../../queries/worker.ts';
import { listFunctions } from './functions.ts';
import type { ParsedMap } from './parse-map.ts';

/** Functions of a source: five numbers each, start and end as line and column, and the index of the name */
type FunctionTable = readonly number[];

interface StoredMap {
  readonly mappings: string;
  readonly names: readonly string[];
  readonly sources: readonly string[];
  /** Indexes of sources that are not code of the application */
  readonly libraries: readonly number[];
  readonly functionNames: readonly string[];
  /** By source; null for a source whose functions are not known */
  readonly functions: readonly (FunctionTable | null)[];
}

/** Sources of a map whose functions are read, in characters. Those of further sources come from the names of the map. */
const maxSourceLength = 24_000_000;
const maxStoredBytes = 256 * 1024 * 1024;
const numbersPerFunction = 5;

/** Returns the path of a source without what bundlers add: the name of a project, relative parts, a query. */
export const toSourcePath = (source: string): string =>
  source
    .replace(/^(?:webpack|turbopack|rollup|vite|rspack)(?:-internal)?:\/{2,3}(?:\(?[\w@.-]*\)?\/)?/, '')
    .replace(/^(?:\.{1,2}\/)+/, '')
    .replace(/\?[\w=&.-]*$/, '');

const isLibrary = (source: string): boolean =>
  /(?:^|\/)node_modules\//.test(source) || /^(?:webpack\/|\(webpack\)|vite\/)/.test(source);

/** Returns the content to store. */
export const encodeStoredMap = ({ map }: Pick<ParsedMap, 'map'>): Buffer => {
  const nameIndexes = new Map<string, number>();
  const getNameIndex = (name: string): number => {
    const index = nameIndexes.get(name) ?? nameIndexes.size;
    nameIndexes.set(name, index);
    return index;
  };
  const sources = map.resolvedSources.map((source) => toSourcePath(source ?? ''));
  let length = 0;
  const functions = sources.map((source, index): FunctionTable | null => {
    const text = map.sourcesContent?.[index];
    if (typeof text !== 'string' || length + text.length > maxSourceLength) return null;
    length += text.length;
    return (
      listFunctions(source, text)?.flatMap(({ startLine, startColumn, endLine, endColumn, name }) => [
        startLine,
        startColumn,
        endLine,
        endColumn,
        getNameIndex(name),
      ]) ?? null
    );
  });
  const stored: StoredMap = {
    mappings: encodedMappings(map),
    names: map.names,
    sources,
    libraries: sources.flatMap((source, index) =>
      isLibrary(source) || map.ignoreList?.includes(index) === true ? [index] : [],
    ),
    functionNames: [...nameIndexes.keys()],
    functions,
  };
  return zstdCompressSync(JSON.stringify(stored));
};

/** A position of a bundle, as browsers print it: both count from 1. */
export interface BundlePosition {
  readonly line: number;
  readonly column: number;
}

/** A position of a source. Line and column count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly isLibrary: boolean;
  /** Function around the position; empty for an anonymous one, null if the map has no text of the source */
  readonly functionName: string | null;
  /** Name of the identifier at the position, if the map has one */
  readonly identifier: string | null;
}

const isBefore = (line: number, column: number, otherLine: number, otherColumn: number): boolean =>
  line < otherLine || (line === otherLine && column < otherColumn);

/** Returns the name of the innermost function around a position; empty outside of all functions. */
const findFunctionName = (table: FunctionTable, names: readonly string[], { line, column }: BundlePosition): string => {
  // Functions begin in ascending order, so the last one around the position is the innermost.
  for (let at = table.length - numbersPerFunction; at >= 0; at -= numbersPerFunction) {
    if (isBefore(line, column, table[at] ?? 0, table[at + 1] ?? 0)) continue;
    if (isBefore(line, column, table[at + 2] ?? 0, table[at + 3] ?? 0)) return names[table[at + 4] ?? 0] ?? '';
  }
  return '';
};

/** Minifiers map no `await`, at which a frame of an asynchronous function is, but what follows. */
const awaitLength = 'await '.length;

const findSegment = (map: TraceMap, line: number, column: number): ReturnType<typeof traceSegment> => {
  const segment = traceSegment(map, line, column);
  if (segment === null || segment[0] === column) return segment;
  const awaited = traceSegment(map, line, column + awaitLength);
  return awaited?.[0] === column + awaitLength ? awaited : segment;
};

/** Returns the source of each position of a bundle; null for a position that the map does not cover. */
export const tracePositions = (
  content: Uint8Array,
  positions: readonly BundlePosition[],
): (SourcePosition | null)[] => {
  const text = zstdDecompressSync(content, { maxOutputLength: maxStoredBytes }).toString('utf8');
  const { mappings, names, sources, libraries, functionNames, functions } = JSON.parse(text) as StoredMap;
  const map = new TraceMap({ version: 3, mappings, names: [...names], sources: [...sources] });
  return positions.map(({ line, column }) => {
    const segment = line < 1 || column < 1 ? null : findSegment(map, line - 1, column - 1);
    if (segment === null || segment.length === 1) return null;
    const [, source, sourceLine, sourceColumn, name] = segment;
    const table = functions[source] ?? null;
    return {
      file: sources[source] ?? '',
      line: sourceLine + 1,
      column: sourceColumn + 1,
      isLibrary: libraries.includes(source),
      functionName:
        table === null ? null : findFunctionName(table, functionNames, { line: sourceLine, column: sourceColumn }),
      identifier: name === undefined ? null : (names[name] ?? null),
    };
  });
};

export const tracePositionsInWorker = runInWorker(import.meta.url, tracePositions, { pool: 'sourceMaps' });
