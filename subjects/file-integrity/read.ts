/** Parses file changes from records, by the tables of `shapes.ts` */
import type { FileAction, FileChange, FileState } from '../../schemas/file-changes.ts';
import { truncateText } from '../../schemas/text.ts';
import { EventPaths, SigmaEvent } from '../detections/event.ts';
import { foldName } from '../detections/fields/table.ts';
import { fillEvent, type RecordValues } from '../detections/record-event.ts';
import { type ActionWords, type FileChangeFormat, fileChangeFormats } from './shapes.ts';

/** A change without the fields of its record */
export type ParsedChange = Omit<FileChange, 'tenantId' | 'projectId' | 'id' | 'recordId' | 'service'>;

/** Absolute paths: Windows, its registry, and Unix */
const absolutePattern = /^(?:\/|[A-Za-z]:[\\/]|\\\\|HKEY_|\[x\d\d\] )/;
export const isAbsolute = (path: string): boolean => absolutePattern.test(path);

const maxTextLength = 4_096;
const truncate = (text: string): string => truncateText(text, maxTextLength);
const emptyValues = new Set(['', '-', '<NA>', '(null)', 'null', 'N/A']);

/** Normalizes a mode: `rw-r--r--` and `0100644` become `0644`. A text that is not a Unix mode is returned unchanged. */
export const normalizeMode = (text: string): string => {
  const permissions = /^[-dlbcps]?((?:[r-][w-][xsStT-]){3})[.+@]?$/.exec(text)?.[1];
  if (permissions === undefined) {
    const octal = /^(?:0o?)?([0-7]{3,6})$/.exec(text)?.[1];
    return octal === undefined ? text.slice(0, 256) : octal.slice(-4).padStart(4, '0');
  }
  let bits = 0;
  for (const [index, char] of [...permissions].entries()) {
    if (!'-ST'.includes(char) && char !== 't' && char !== 's') bits |= 1 << (8 - index);
    if (char === 's' || char === 't') bits |= 1 << (8 - index);
    if ('sStT'.includes(char)) bits |= [0o4000, 0o2000, 0o1000][Math.floor(index / 3)] ?? 0;
  }
  return bits.toString(8).padStart(4, '0');
};

const createHashNormalizer = (digits: number) => (text: string) => {
  const lowercase = text.toLowerCase();
  return lowercase.length === digits && /^[0-9a-f]+$/.test(lowercase) ? lowercase : '';
};
/** Normalizes values across sources; empty for an invalid value */
const normalizers: Readonly<Record<keyof FileState, (text: string) => string>> = {
  sha256: createHashNormalizer(64),
  sha1: createHashNormalizer(40),
  md5: createHashNormalizer(32),
  mode: normalizeMode,
  owner: (text) => text.slice(0, 256),
  group: (text) => text.slice(0, 256),
  size: (text) => (/^\d{1,18}$/.test(text) ? text : ''),
};

type GetText = (names: readonly string[]) => string;

const readState = (names: FileChangeFormat['after'], getText: GetText): FileState => {
  const state: FileState = {};
  for (const [key, fieldNames] of Object.entries(names) as [keyof FileState, readonly string[]][]) {
    const value = normalizers[key](getText(fieldNames));
    if (value !== '') state[key] = value;
  }
  return state;
};

const findAction = (text: string, words: ActionWords): FileAction | undefined =>
  words.find(([word]) => word.test(text))?.[1];

const readAction = (format: FileChangeFormat, getText: GetText, changed: readonly string[]): FileAction | undefined => {
  const reportedAction = getText(format.action);
  const action = findAction(reportedAction, format.words);
  if (action === 'read' && format.opened !== undefined && /open|creat/i.test(reportedAction)) {
    for (const { names, words } of format.opened) {
      const openMode = getText(names);
      if (openMode !== '') return findAction(openMode, words);
    }
  }
  const { metadata } = format;
  if (action === 'changed' && metadata !== undefined && changed.length > 0)
    return changed.every((value) => metadata.includes(value)) ? 'attributes-changed' : 'changed';
  return action;
};

/** Returns a time in milliseconds from the formats of the sources; `undefined` if it is invalid. */
export const parseTime = (text: string): number | undefined => {
  if (text === '') return undefined;
  const ms = /^\d{9,11}(?:\.\d+)?$/.test(text)
    ? Math.round(Number(text) * 1000)
    : Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
};

/**
 * Maximum time by which a source's clock may be ahead of its record; times outside of this limit or `maxBehindMs` are
 * ignored
 */
const maxAheadMs = 5 * 60_000;
const maxBehindMs = 24 * 3_600_000;
/** Returns the time that the source reports, unless it is far from the time of the record. */
export const clampToPlausibleTime = (reportedMs: number | undefined, recordMs: number): number =>
  reportedMs === undefined || reportedMs > recordMs + maxAheadMs || reportedMs < recordMs - maxBehindMs
    ? Math.floor(recordMs)
    : reportedMs;

const foldedNamesCache = new WeakMap<readonly string[], readonly string[]>();
const foldNames = (names: readonly string[]): readonly string[] => {
  const cached = foldedNamesCache.get(names);
  if (cached !== undefined) return cached;
  const foldedNames = names.map(foldName);
  foldedNamesCache.set(names, foldedNames);
  return foldedNames;
};

const createGetter =
  (event: SigmaEvent): GetText =>
  (names) => {
    for (const name of foldNames(names)) {
      const text = event.get(name)?.text.trim() ?? '';
      if (!emptyValues.has(text)) return text;
    }
    return '';
  };

const readList = (event: SigmaEvent, names: readonly string[]): string[] => {
  const texts: string[] = [];
  for (const name of foldNames(names))
    for (let leaf = event.get(name); leaf !== undefined; leaf = leaf.next)
      texts.push(...leaf.text.split(',').map((text) => text.trim().slice(0, 256)));
  return texts.filter((text) => text !== '').slice(0, 32);
};

const parseChange = (event: SigmaEvent, format: FileChangeFormat, recordMs: number): ParsedChange | undefined => {
  const getText = createGetter(event);
  if (!format.needs.every((names) => getText(names) !== '')) return undefined;
  const path = truncate(getText(format.path));
  if (!isAbsolute(path)) return undefined;
  const changed = readList(event, format.changed);
  const action = readAction(format, getText, changed);
  if (action === undefined) return undefined;
  const pathBefore = action === 'renamed' ? truncate(getText(format.pathBefore)) : '';
  return {
    timeMs: clampToPlausibleTime(parseTime(getText(format.time)), recordMs),
    source: format.source,
    action,
    path,
    pathBefore: pathBefore === path ? '' : pathBefore,
    host: truncate(getText(format.host)),
    user: truncate(getText(format.user)),
    process: truncate(getText(format.process)),
    processId: getText(format.processId).slice(0, 32),
    before: readState(format.before, getText),
    after: action === 'deleted' ? {} : readState(format.after, getText),
    changed,
    rule: truncate(getText(format.rule)),
  };
};

const paths = new EventPaths([
  {
    name: '',
    summary: '',
    rules: [],
    fields: {},
    roots: [...new Set(fileChangeFormats.flatMap(({ roots }) => roots))],
  },
]);

const maxHeadLength = 256;

const parseObject = (body: unknown): Record<string, unknown> | undefined => {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  if (typeof body !== 'string') return undefined;
  // The JSON follows the syslog header.
  const jsonStart = body.slice(0, maxHeadLength).search(/\{\s*"/);
  if (jsonStart < 0 || !body.trimEnd().endsWith('}')) return undefined;
  try {
    return JSON.parse(body.slice(jsonStart)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
};

/** Maximum number of rows of one osquery result in its batch format */
const maxRows = 1_000;

/** Returns the added rows of an osquery result, each as if it were logged individually. */
const readRows = (body: Record<string, unknown> | undefined): object[] => {
  const results = body?.['diffResults'] as { added?: unknown } | undefined;
  const rows = results?.added ?? body?.['snapshot'];
  if (body === undefined || !Array.isArray(rows)) return [];
  const { diffResults: _d, snapshot: _s, ...head } = body;
  return rows
    .slice(0, maxRows)
    .filter((row) => typeof row === 'object' && row !== null)
    .map((columns) => ({ ...head, columns }));
};

/** Returns the changes in a record; empty if the record has other content. */
export const parseChanges = ({ body, attributes, resource }: RecordValues, recordMs: number): ParsedChange[] => {
  const object = parseObject(body);
  const rows = readRows(object);
  const bodies: readonly unknown[] = rows.length > 0 ? rows : [object ?? body];
  return bodies.flatMap((bodyValue) => {
    const event = fillEvent(new SigmaEvent(paths), { body: bodyValue, attributes, resource });
    for (const format of fileChangeFormats) {
      const change = parseChange(event, format, recordMs);
      if (change !== undefined) return [change];
    }
    return [];
  });
};
