/** Lenses: rows of tables that map a Grafana setting to an OIQ setting, with a conversion in both directions. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { Ledger } from './ledger.ts';

/** Converts a value in both directions. Returns undefined for a value without an equivalent. */
export interface Codec {
  read(value: unknown): unknown;
  write(value: unknown): unknown;
}

const createValidatedCodec = (isValid: (value: unknown) => boolean): Codec => {
  const valueIfValid = (value: unknown): unknown => (isValid(value) ? value : undefined);
  return { read: valueIfValid, write: valueIfValid };
};

export const flag = createValidatedCodec((value) => typeof value === 'boolean');
export const text = (maxLength = 1024): Codec =>
  createValidatedCodec((value) => typeof value === 'string' && value.length <= maxLength);
export const number = (min = -Infinity, max = Infinity): Codec =>
  createValidatedCodec((value) => Number.isFinite(value) && (value as number) >= min && (value as number) <= max);
export const integer = (min: number, max: number): Codec =>
  createValidatedCodec((value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max);

/** Maps names of one side to those of the other. */
export const nameCodec = (pairs: Readonly<Record<string, unknown>>): Codec => {
  const namesByValue = new Map(Object.entries(pairs).map(([theirs, ours]) => [ours, theirs]));
  return {
    read: (value) => (typeof value === 'string' && Object.hasOwn(pairs, value) ? pairs[value] : undefined),
    write: (value) => namesByValue.get(value),
  };
};
/** Names that are the same on both sides. */
export const sameNames = (...all: readonly string[]): Codec =>
  nameCodec(Object.fromEntries(all.map((value) => [value, value])));
/** Negates a boolean that Grafana has inverted. */
export const negatedFlag: Codec = {
  read: (value) => (typeof value === 'boolean' ? !value : undefined),
  write: (value) => (typeof value === 'boolean' ? !value : undefined),
};
/** Converts every member of a list, or none. */
export const createListLens = (codec: Codec, maxItems: number): Codec => {
  const createListConverter = (convert: (value: unknown) => unknown) => (value: unknown) => {
    if (!Array.isArray(value) || value.length > maxItems) return undefined;
    const convertedItems = value.map(convert);
    return convertedItems.includes(undefined) ? undefined : convertedItems;
  };
  return { read: createListConverter(codec.read), write: createListConverter(codec.write) };
};

/** Looks up a name from a document in a table. Inherited properties such as `constructor` are not found. */
export const lookUp = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Path of a Grafana setting, path of the OIQ setting, and codec. */
export type Lens = readonly [theirs: string, ours: string, codec: Codec];

export const getAtPath = (value: unknown, path: readonly string[]): unknown => {
  let inner = value;
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    inner = (inner as Fields)[key];
  }
  return inner;
};

/** Sets a value at a path of an object under construction, unless it exists. */
export const setAtPath = (object: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  let holder = object;
  for (const key of path.slice(0, -1)) {
    if (!Object.hasOwn(holder, key)) defineProperty(holder, key, {});
    const inner = holder[key];
    if (typeof inner !== 'object' || inner === null) return;
    holder = inner as Record<string, unknown>;
  }
  const last = path.at(-1) ?? '';
  if (!Object.hasOwn(holder, last)) defineProperty(holder, last, value);
};
/** Sets a property; `__proto__` is an ordinary name here. */
const defineProperty = (holder: object, key: string, value: unknown): void => {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
};

/** A lens whose paths are split. */
interface SplitLens {
  readonly codec: Codec;
  readonly oiqPath: readonly string[];
  readonly grafanaPath: readonly string[];
  /** The Grafana path without its last name. Lenses of one holder share it. */
  readonly holder: readonly string[];
  readonly lastKey: string;
}

/** Cached split lenses by table, because a table is used for each panel. */
const splitLensCache = new WeakMap<readonly Lens[], readonly SplitLens[]>();

const splitLenses = (lenses: readonly Lens[]): readonly SplitLens[] => {
  const cached = splitLensCache.get(lenses);
  if (cached !== undefined) return cached;
  const holders = new Map<string, readonly string[]>();
  const splitLensList = lenses.map(([path, ours, codec]) => {
    const grafanaPath = path.split('.');
    const holder = holders.get(grafanaPath.slice(0, -1).join('.')) ?? grafanaPath.slice(0, -1);
    holders.set(holder.join('.'), holder);
    return { codec, oiqPath: ours.split('.'), grafanaPath, holder, lastKey: grafanaPath.at(-1) ?? '' };
  });
  splitLensCache.set(lenses, splitLensList);
  return splitLensList;
};

/** Converts Grafana's settings to OIQ's. */
export const readLenses = (lenses: readonly Lens[], source: unknown, ledger: Ledger): Record<string, unknown> => {
  const converted: Record<string, unknown> = {};
  let path: readonly string[] | undefined;
  let holder: unknown;
  for (const lens of splitLenses(lenses)) {
    if (lens.holder !== path) holder = getAtPath(source, lens.holder);
    path = lens.holder;
    if (!isFields(holder) || !Object.hasOwn(holder, lens.lastKey)) continue;
    const value = lens.codec.read(holder[lens.lastKey]);
    if (value === undefined) continue;
    setAtPath(converted, lens.oiqPath, value);
    ledger.carry(holder, lens.lastKey);
  }
  return converted;
};

/** Converts OIQ's settings to Grafana's. */
export const writeLenses = (lenses: readonly Lens[], ours: unknown): Record<string, unknown> => {
  const written: Record<string, unknown> = {};
  for (const lens of splitLenses(lenses)) {
    const value = getAtPath(ours, lens.oiqPath);
    const writtenValue = value === undefined || value === null ? undefined : lens.codec.write(value);
    if (writtenValue !== undefined) setAtPath(written, lens.grafanaPath, writtenValue);
  }
  return written;
};
