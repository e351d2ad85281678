import { compilePattern } from '../patterns.ts';
import { type Column, findColumn, findTimeColumn, parseNumber, type Table } from './table.ts';
import { requireTableLimits, type Transform, type TransformationOptions } from './transformation.ts';

type Options = TransformationOptions<'extract'>;
type ExtractedValues = ReadonlyMap<string, unknown>;

const tryParseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the names of a path such as `a.b[0]["c.d"]`. */
const parsePath = (path: string): readonly string[] =>
  [...path.matchAll(/\[(?:"([^"]{0,1024})"|'([^']{0,1024})'|(\d{1,9}))\]|([^.[\]]{1,1024})/g)].map(
    ([, double, single, index, plain]) => double ?? single ?? index ?? plain ?? '',
  );

const readPath = (value: unknown, names: readonly string[]): unknown => {
  let current = value;
  for (const name of names) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return null;
    current = (current as Record<string, unknown>)[name];
  }
  return current ?? null;
};

const extractFromJson = (value: unknown, { paths }: Options): ExtractedValues => {
  const parsed = typeof value === 'string' ? tryParseJson(value) : value;
  if (typeof parsed !== 'object' || parsed === null) return new Map();
  if (paths.length === 0) return new Map(Object.entries(parsed));
  return new Map(paths.map(({ path, as }) => [as ?? path, readPath(parsed, parsePath(path))]));
};

const isSeparator = (character: string): boolean => /^[\s,;{}]$/.test(character);

/** Returns the quoted text at a position, and its end. */
const readQuoted = (text: string, start: number): { readonly value: string; readonly end: number } => {
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return { value, end: at + 1 };
    if (text[at] === '\\' && at + 1 < text.length) at++;
    value += text[at];
  }
  return { value, end: text.length };
};

/** Parses `a=1 b="two words"`, separated by spaces, commas or semicolons, as in labels and logfmt. */
const extractFromPairs = (value: unknown): ExtractedValues => {
  const text = String(value);
  const parts = new Map<string, unknown>();
  const findEnd = (start: number, isEnd: (character: string) => boolean): number => {
    let end = start;
    while (end < text.length && !isEnd(text[end] as string)) end++;
    return end;
  };
  for (let at = 0; at < text.length; ) {
    const end = findEnd(at, (character) => isSeparator(character) || character === '=' || character === ':');
    const name = text.slice(at, end);
    at = end + 1;
    if (name === '' || (text[end] !== '=' && text[end] !== ':')) continue;
    const parsedValue =
      text[at] === '"'
        ? readQuoted(text, at)
        : { value: text.slice(at, findEnd(at, isSeparator)), end: findEnd(at, isSeparator) };
    parts.set(name, parsedValue.value);
    at = parsedValue.end;
  }
  return parts;
};

const createExtractor = (options: Options): ((value: unknown) => ExtractedValues) => {
  if (options.format === 'json') return (value) => extractFromJson(value, options);
  if (options.format === 'pairs') return extractFromPairs;
  if (options.format === 'auto')
    return (value) => {
      const json = extractFromJson(value, options);
      return json.size > 0 ? json : extractFromPairs(value);
    };
  const pattern = compilePattern(options.pattern ?? '', 'transformations.pattern');
  return (value) => {
    const match = pattern.find(String(value));
    return new Map(
      match === undefined ? [] : [...pattern.groupNumbers].map(([name, group]) => [name, match.groups[group] ?? null]),
    );
  };
};

/** Returns a column, numeric if all present values are numbers. */
const createColumn = (name: string, values: readonly unknown[]): Column => {
  const presentValues = values.filter((value) => value !== null);
  const isNumber =
    presentValues.length > 0 &&
    presentValues.every(
      (value) => typeof value !== 'boolean' && typeof value !== 'object' && parseNumber(value) !== undefined,
    );
  if (isNumber)
    return {
      name,
      type: 'number',
      unit: '',
      values: values.map((value) => (value === null ? null : parseNumber(value))),
    };
  if (presentValues.some((value) => typeof value === 'object')) return { name, type: 'json', unit: '', values };
  if (presentValues.length > 0 && presentValues.every((value) => typeof value === 'boolean'))
    return { name, type: 'boolean', unit: '', values };
  return { name, type: 'text', unit: '', values: values.map((value) => (value === null ? null : String(value))) };
};

const extractColumns = (table: Table, options: Options, read: (value: unknown) => ExtractedValues): Table => {
  const column = findColumn(table, options.field);
  if (column === undefined) return table;
  const parts = column.values.map((value) => (value === null || value === undefined ? new Map() : read(value)));
  const names = [...new Set(parts.flatMap((part) => [...part.keys()]))];
  requireTableLimits(parts.length, names.length + table.columns.length);
  const extractedColumns = names.map((name) =>
    createColumn(
      name,
      parts.map((part) => part.get(name) ?? null),
    ),
  );
  const time = options.keepsTime ? findTimeColumn(table) : undefined;
  const baseColumns = options.replaces ? (time === undefined ? [] : [time]) : table.columns;
  return { ...table, columns: [...baseColumns, ...extractedColumns] };
};

export const extract: Transform<'extract'> = (tables, options) => {
  const read = createExtractor(options);
  return tables.map((table) => extractColumns(table, options, read));
};
