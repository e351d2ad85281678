import { patternOf } from '../patterns.ts';
import { type Column, columnNamed, numberOf, type Table, timeOf } from './table.ts';
import { type OptionsOf, requireRoom, type Transform } from './transformation.ts';

type Options = OptionsOf<'extract'>;
type Parts = ReadonlyMap<string, unknown>;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the names of a path such as `a.b[0]["c.d"]`. */
const namesOf = (path: string): readonly string[] =>
  [...path.matchAll(/\[(?:"([^"]{0,1024})"|'([^']{0,1024})'|(\d{1,9}))\]|([^.[\]]{1,1024})/g)].map(
    ([, double, single, index, plain]) => double ?? single ?? index ?? plain ?? '',
  );

const partAt = (value: unknown, names: readonly string[]): unknown => {
  let part = value;
  for (const name of names) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, name)) return null;
    part = (part as Record<string, unknown>)[name];
  }
  return part ?? null;
};

const ofJson = (value: unknown, { paths }: Options): Parts => {
  const own = typeof value === 'string' ? parsed(value) : value;
  if (typeof own !== 'object' || own === null) return new Map();
  if (paths.length === 0) return new Map(Object.entries(own));
  return new Map(paths.map(({ path, as }) => [as ?? path, partAt(own, namesOf(path))]));
};

const isBetween = (character: string): boolean => /^[\s,;{}]$/.test(character);

/** Returns the quoted text at a position, and its end. */
const quotedAt = (text: string, start: number): { readonly value: string; readonly end: number } => {
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return { value, end: at + 1 };
    if (text[at] === '\\' && at + 1 < text.length) at++;
    value += text[at];
  }
  return { value, end: text.length };
};

/** Parses `a=1 b="two words"`, separated by spaces, commas or semicolons, as in labels and logfmt. */
const ofPairs = (value: unknown): Parts => {
  const text = String(value);
  const parts = new Map<string, unknown>();
  const endOf = (start: number, isEnd: (character: string) => boolean): number => {
    let end = start;
    while (end < text.length && !isEnd(text[end] as string)) end++;
    return end;
  };
  for (let at = 0; at < text.length; ) {
    const end = endOf(at, (character) => isBetween(character) || character === '=' || character === ':');
    const name = text.slice(at, end);
    at = end + 1;
    if (name === '' || (text[end] !== '=' && text[end] !== ':')) continue;
    const found =
      text[at] === '"'
        ? quotedAt(text, at)
        : { value: text.slice(at, endOf(at, isBetween)), end: endOf(at, isBetween) };
    parts.set(name, found.value);
    at = found.end;
  }
  return parts;
};

const readerOf = (options: Options): ((value: unknown) => Parts) => {
  if (options.format === 'json') return (value) => ofJson(value, options);
  if (options.format === 'pairs') return ofPairs;
  if (options.format === 'auto')
    return (value) => {
      const json = ofJson(value, options);
      return json.size > 0 ? json : ofPairs(value);
    };
  const pattern = patternOf(options.pattern ?? '', 'transformations.pattern');
  return (value) => {
    const found = pattern.find(String(value));
    return new Map(
      found === undefined ? [] : [...pattern.names].map(([name, group]) => [name, found.groups[group] ?? null]),
    );
  };
};

/** Returns a column, numeric if all present values are numbers. */
const columnOf = (name: string, values: readonly unknown[]): Column => {
  const there = values.filter((value) => value !== null);
  const isNumber =
    there.length > 0 &&
    there.every((value) => typeof value !== 'boolean' && typeof value !== 'object' && numberOf(value) !== undefined);
  if (isNumber)
    return { name, type: 'number', unit: '', values: values.map((value) => (value === null ? null : numberOf(value))) };
  if (there.some((value) => typeof value === 'object')) return { name, type: 'json', unit: '', values };
  if (there.length > 0 && there.every((value) => typeof value === 'boolean'))
    return { name, type: 'boolean', unit: '', values };
  return { name, type: 'text', unit: '', values: values.map((value) => (value === null ? null : String(value))) };
};

const extracted = (table: Table, options: Options, read: (value: unknown) => Parts): Table => {
  const column = columnNamed(table, options.field);
  if (column === undefined) return table;
  const parts = column.values.map((value) => (value === null || value === undefined ? new Map() : read(value)));
  const names = [...new Set(parts.flatMap((each) => [...each.keys()]))];
  requireRoom(parts.length, names.length + table.columns.length);
  const added = names.map((name) =>
    columnOf(
      name,
      parts.map((each) => each.get(name) ?? null),
    ),
  );
  const time = options.keepsTime ? timeOf(table) : undefined;
  const baseColumns = options.replaces ? (time === undefined ? [] : [time]) : table.columns;
  return { ...table, columns: [...baseColumns, ...added] };
};

export const extract: Transform<'extract'> = (tables, options) => {
  const read = readerOf(options);
  return tables.map((table) => extracted(table, options, read));
};
