/** Parses and checks a source map (ECMA-426). Every fault names its path. */
import { FlattenMap, type SourceMapInput, type TraceMap } from '@jridgewell/trace-mapping';
import { type Fields, isFields, toFields } from '../../../runtime/fields.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import { readJsonText } from '../../../schemas/otlp/json-text.ts';
import { checkMappings, maxSegments } from './check-mappings.ts';

export const maxMapBytes = 48 * 1024 * 1024;
const maxSections = 10_000;

const createFault = (path: string, message: string): PermanentError =>
  new PermanentError('bad-source-map', `${path}: ${message}`);

/** Returns the text behind the line that prevents inclusion as a script: `)]}'`. */
const skipGuard = (bytes: Buffer): Buffer => {
  if (bytes.subarray(0, 3).toString('latin1') !== ')]}') return bytes;
  const end = bytes.indexOf(10);
  return end < 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1);
};

const readList = (fields: Fields, name: string, path: string, accepts: (value: unknown) => boolean): number => {
  const value = fields[name];
  if (!Array.isArray(value)) throw createFault(`${path}${name}`, 'must be a list');
  const bad = value.findIndex((item) => !accepts(item));
  if (bad >= 0) throw createFault(`${path}${name}[${bad}]`, 'has the wrong type');
  return value.length;
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isIndex = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0;

/** Throws for a map without sections that is invalid. Returns its segments. */
const checkPlainMap = (fields: Fields, path: string): number => {
  const sources = readList(fields, 'sources', path, isTextOrNull);
  const names = fields['names'] === undefined ? 0 : readList(fields, 'names', path, isText);
  if (fields['sourcesContent'] !== undefined && fields['sourcesContent'] !== null)
    readList(fields, 'sourcesContent', path, isTextOrNull);
  if (fields['ignoreList'] !== undefined)
    readList(fields, 'ignoreList', path, (value) => isIndex(value) && (value as number) < sources);
  for (const name of ['file', 'sourceRoot'])
    if (fields[name] !== undefined && !isTextOrNull(fields[name]))
      throw createFault(`${path}${name}`, 'must be a text');
  const { mappings } = fields;
  if (typeof mappings !== 'string') throw createFault(`${path}mappings`, 'must be a text');
  try {
    return checkMappings(mappings, { sources, names });
  } catch (error) {
    throw error instanceof PermanentError && path !== ''
      ? new PermanentError(error.reason, `${path}${error.message}`)
      : error;
  }
};

/** Reads the offset of a section, which must be behind that of the previous one. */
const readOffset = (value: unknown, path: string, previous: readonly [line: number, column: number] | undefined) => {
  const { line, column } = toFields(value);
  if (!isIndex(line) || !isIndex(column)) throw createFault(`${path}.offset`, 'must have a line and a column');
  const offset = [line as number, column as number] as const;
  if (offset[0] > maxSegments) throw createFault(`${path}.offset.line`, `must be at most ${maxSegments}`);
  const isBehind =
    previous === undefined || offset[0] > previous[0] || (offset[0] === previous[0] && offset[1] > previous[1]);
  if (!isBehind) throw createFault(`${path}.offset`, 'must be behind that of the previous section');
  return offset;
};

/** Throws for an invalid section. Returns its segments. Sections with sections do not exist, so no map contains itself. */
const checkSection = ({ map, url }: Fields, path: string): number => {
  if (url !== undefined) throw createFault(`${path}.url`, 'maps are not fetched: include the map of the section');
  if (!isFields(map) || 'sections' in map) throw createFault(`${path}.map`, 'must be a source map without sections');
  requireVersion(map, `${path}.map.`);
  return checkPlainMap(map, `${path}.map.`);
};

const checkSections = (sections: unknown): void => {
  if (!Array.isArray(sections) || sections.length > maxSections)
    throw createFault('sections', `must be a list of at most ${maxSections} sections`);
  let segments = 0;
  let previous: readonly [line: number, column: number] | undefined;
  for (const [index, value] of sections.entries()) {
    const path = `sections[${index}]`;
    const section = toFields(value);
    previous = readOffset(section['offset'], path, previous);
    segments += checkSection(section, path);
    if (segments > maxSegments) throw createFault(path, `the sections have more than ${maxSegments} segments`);
  }
};

const requireVersion = ({ version }: Fields, path: string): void => {
  if (version !== 3) throw createFault(`${path}version`, 'must be 3');
};

export interface ParsedMap {
  readonly map: TraceMap;
  /** Path of the bundle that the map names; empty without one */
  readonly file: string;
  readonly debugId: string;
}

const debugIdPattern = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;
/** Returns a debug id in lower case; empty if the value is none. */
export const parseDebugId = (value: unknown): string => {
  const id = typeof value === 'string' ? value.toLowerCase() : '';
  return debugIdPattern.test(id) ? id : '';
};

/** Returns a source map, in which sections are joined. Throws `PermanentError` with the path of a fault. */
export const parseSourceMap = (bytes: Buffer): ParsedMap => {
  if (bytes.length > maxMapBytes)
    throw new PermanentError('too-large', `a source map may have at most ${maxMapBytes} bytes`);
  const text = skipGuard(bytes);
  // The reader names the path of a fault, also in text after the map.
  readJsonText(text, (reader) => reader.skipValue());
  const parsed: unknown = JSON.parse(text.toString('utf8'));
  if (!isFields(parsed)) throw new PermanentError('bad-source-map', 'a source map is a JSON object');
  requireVersion(parsed, '');
  if ('sections' in parsed && 'mappings' in parsed) throw createFault('mappings', 'must not be beside sections');
  if ('sections' in parsed) checkSections(parsed['sections']);
  else checkPlainMap(parsed, '');
  return {
    map: new FlattenMap(parsed as unknown as SourceMapInput),
    file: typeof parsed['file'] === 'string' ? parsed['file'] : '',
    debugId: parseDebugId(parsed['debugId'] ?? parsed['debug_id']),
  };
};
