/** Parses file changes from records, by the tables of `shapes.ts` */
import type { FileAction, FileChange, FileState } from '../../schemas/file-changes.ts';
import { EventPaths, SigmaEvent } from '../detections/event.ts';
import { foldName } from '../detections/fields/table.ts';
import { fillEvent, type RecordValues } from '../detections/record-event.ts';
import { type ActionWords, type FileChangeFormat, fileChangeFormats } from './shapes.ts';

/** A change without the fields of its record */
export type ParsedChange = Omit<FileChange, 'tenantId' | 'projectId' | 'id' | 'recordId' | 'service'>;

/** Absolute paths: Windows, its registry, and Unix */
const absolute = /^(?:\/|[A-Za-z]:[\\/]|\\\\|HKEY_|\[x\d\d\] )/;
export const isAbsolute = (path: string): boolean => absolute.test(path);

const maxTextLength = 4_096;
const truncate = (text: string): string =>
  text.length <= maxTextLength ? text : text.slice(0, maxTextLength).toWellFormed();
const emptyValues = new Set(['', '-', '<NA>', '(null)', 'null', 'N/A']);

/** Normalizes a mode: `rw-r--r--` and `0100644` become `0644`. A text that is not a Unix mode is returned unchanged. */
export const normalizeMode = (text: string): string => {
  const permissions = /^[-dlbcps]?((?:[r-][w-][xsStT-]){3})[.+@]?$/.exec(text)?.[1];
  if (permissions === undefined) {
    const octal = /^(?:0o?)?([0-7]{3,6})$/.exec(text)?.[1];
    return octal === undefined ? text.slice(0, 256) : octal.slice(-4).padStart(4, '0');
  }
  let bits = 0;
  for (const [at, char] of [...permissions].entries()) {
    if (!'-ST'.includes(char) && char !== 't' && char !== 's') bits |= 1 << (8 - at);
    if (char === 's' || char === 't') bits |= 1 << (8 - at);
    if ('sStT'.includes(char)) bits |= [0o4000, 0o2000, 0o1000][Math.floor(at / 3)] ?? 0;
  }
  return bits.toString(8).padStart(4, '0');
};

const hash = (digits: number) => (text: string) => {
  const low = text.toLowerCase();
  return low.length === digits && /^[0-9a-f]+$/.test(low) ? low : '';
};
/** Normalizes values across sources; empty for an invalid value */
const normalizers: Readonly<Record<keyof FileState, (text: string) => string>> = {
  sha256: hash(64),
  sha1: hash(40),
  md5: hash(32),
  mode: normalizeMode,
  owner: (text) => text.slice(0, 256),
  group: (text) => text.slice(0, 256),
  size: (text) => (/^\d{1,18}$/.test(text) ? text : ''),
};

type Get = (names: readonly string[]) => string;

const readState = (names: FileChangeFormat['after'], get: Get): FileState => {
  const state: FileState = {};
  for (const [key, of] of Object.entries(names) as [keyof FileState, readonly string[]][]) {
    const value = normalizers[key](get(of));
    if (value !== '') state[key] = value;
  }
  return state;
};

const findAction = (text: string, words: ActionWords): FileAction | undefined =>
  words.find(([word]) => word.test(text))?.[1];

const readAction = (shape: FileChangeFormat, get: Get, changed: readonly string[]): FileAction | undefined => {
  const reportedAction = get(shape.action);
  const action = findAction(reportedAction, shape.words);
  if (action === 'read' && shape.opened !== undefined && /open|creat/i.test(reportedAction)) {
    for (const { names, words } of shape.opened) {
      const how = get(names);
      if (how !== '') return findAction(how, words);
    }
  }
  const { metadata } = shape;
  if (action === 'changed' && metadata !== undefined && changed.length > 0)
    return changed.every((each) => metadata.includes(each)) ? 'attributes-changed' : 'changed';
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
 * Maximum time by which a source's clock may be ahead of its record; times outside of this limit or `behindMs` are
 * ignored
 */
const aheadMs = 5 * 60_000;
const behindMs = 24 * 3_600_000;
/** Returns the time that the source reports, unless it is far from the time of the record. */
export const plausibleTime = (reportedMs: number | undefined, recordMs: number): number =>
  reportedMs === undefined || reportedMs > recordMs + aheadMs || reportedMs < recordMs - behindMs
    ? Math.floor(recordMs)
    : reportedMs;

const folded = new WeakMap<readonly string[], readonly string[]>();
const fold = (names: readonly string[]): readonly string[] => {
  const known = folded.get(names);
  if (known !== undefined) return known;
  const made = names.map(foldName);
  folded.set(names, made);
  return made;
};

const getter =
  (event: SigmaEvent): Get =>
  (names) => {
    for (const name of fold(names)) {
      const text = event.get(name)?.text.trim() ?? '';
      if (!emptyValues.has(text)) return text;
    }
    return '';
  };

const readList = (event: SigmaEvent, names: readonly string[]): string[] => {
  const texts: string[] = [];
  for (const name of fold(names))
    for (let leaf = event.get(name); leaf !== undefined; leaf = leaf.next)
      texts.push(...leaf.text.split(',').map((text) => text.trim().slice(0, 256)));
  return texts.filter((text) => text !== '').slice(0, 32);
};

const parseChange = (event: SigmaEvent, shape: FileChangeFormat, recordMs: number): ParsedChange | undefined => {
  const get = getter(event);
  if (!shape.needs.every((names) => get(names) !== '')) return undefined;
  const path = truncate(get(shape.path));
  if (!isAbsolute(path)) return undefined;
  const changed = readList(event, shape.changed);
  const action = readAction(shape, get, changed);
  if (action === undefined) return undefined;
  const pathBefore = action === 'renamed' ? truncate(get(shape.pathBefore)) : '';
  return {
    timeMs: plausibleTime(parseTime(get(shape.time)), recordMs),
    source: shape.source,
    action,
    path,
    pathBefore: pathBefore === path ? '' : pathBefore,
    host: truncate(get(shape.host)),
    user: truncate(get(shape.user)),
    process: truncate(get(shape.process)),
    processId: get(shape.processId).slice(0, 32),
    before: readState(shape.before, get),
    after: action === 'deleted' ? {} : readState(shape.after, get),
    changed,
    rule: truncate(get(shape.rule)),
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
  const from = body.slice(0, maxHeadLength).search(/\{\s*"/);
  if (from < 0 || !body.trimEnd().endsWith('}')) return undefined;
  try {
    return JSON.parse(body.slice(from)) as Record<string, unknown>;
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
  return bodies.flatMap((each) => {
    const event = fillEvent(new SigmaEvent(paths), { body: each, attributes, resource });
    for (const shape of fileChangeFormats) {
      const change = parseChange(event, shape, recordMs);
      if (change !== undefined) return [change];
    }
    return [];
  });
};
