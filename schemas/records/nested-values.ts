/**
 * Values inside arrays and maps, with their paths: the only definition, for sinks, searches of streamed records and
 * detections. The path of a value is the key of its attribute and the keys of the maps around it, joined by dots. Items
 * of an array have the path of the array.
 */
import { removeEscapeSequences } from '../escape-sequences.ts';

/** Limits of the values of one record. */
export const nestedLimits = {
  /** Levels of arrays and maps. */
  depth: 32,
  /** Values in the attributes of a record, of a resource, or of an event or link; and values in a body. */
  values: 128,
  /** Characters of the paths and texts of these values. */
  characters: 8_192,
  valueCharacters: 1_024,
  pathCharacters: 512,
  /** Characters of JSON that are read. */
  jsonCharacters: 65_536,
} as const;

/** Characters of `attribute_types` for a value inside an array or map: text, integer, other number, boolean, null. */
export type NestedType = 's' | 'i' | 'd' | 'b' | 'n';

/** A value inside an array or map. */
export interface NestedValue {
  readonly path: string;
  /** Text as an attribute with this value has it. */
  readonly text: string;
  readonly type: NestedType;
}

/** Visitor of the values inside a JSON value. A position represents a path. */
export interface ValueVisitor<Position> {
  /** Returns the position of a key below a position. */
  enter(position: Position, key: string): Position;
  /** Visits a value that is neither an array nor a map. */
  visit(position: Position, value: unknown): void;
  /** Visits an array or map that is nested too deeply. */
  omit?(): void;
  /** Returns the name and value of an array item that has both, such as `{"Name": "Image", "#text": "…"}`. */
  readNamedItem?(item: object): readonly [name: string, value: unknown] | undefined;
}

/** Visits each value inside a JSON value. */
export const visitNestedValues = <Position>(
  value: unknown,
  position: Position,
  visitor: ValueVisitor<Position>,
  depth = 0,
): void => {
  if (typeof value !== 'object' || value === null) {
    visitor.visit(position, value);
    return;
  }
  if (depth >= nestedLimits.depth) {
    visitor.omit?.();
    return;
  }
  if (!Array.isArray(value)) {
    for (const key in value)
      visitNestedValues((value as Record<string, unknown>)[key], visitor.enter(position, key), visitor, depth + 1);
    return;
  }
  for (const item of value) {
    const namedItem = typeof item === 'object' && item !== null ? visitor.readNamedItem?.(item) : undefined;
    if (namedItem === undefined) visitNestedValues(item, position, visitor, depth + 1);
    else visitNestedValues(namedItem[1], visitor.enter(position, namedItem[0]), visitor, depth + 1);
  }
};

const longNumberPattern = /\d{16}/;
const integerPattern = /^-?\d{1,21}$/;

/** Integers that numbers do not represent exactly become bigints. */
const readExactNumber = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && integerPattern.test(context?.source ?? '')
    ? BigInt(context?.source ?? 0)
    : value;

/** Returns the array or map of a JSON text; undefined for another text. */
export const parseNestedJson = (text: string): object | undefined => {
  const firstCharacter = text.trimStart()[0];
  if (firstCharacter !== '{' && firstCharacter !== '[') return undefined;
  try {
    return (longNumberPattern.test(text) ? JSON.parse(text, readExactNumber) : JSON.parse(text)) as object;
  } catch {
    return undefined;
  }
};

/** Collects the values inside the arrays and maps of a record, up to `nestedLimits`. */
class NestedValueCollector implements ValueVisitor<string> {
  readonly values: NestedValue[] = [];
  /** Number of values beyond the limits. */
  omittedCount = 0;
  #characters = 0;
  #jsonCharacters = 0;

  addJson(key: string, json: string): void {
    this.#jsonCharacters += json.length;
    if (this.#jsonCharacters > nestedLimits.jsonCharacters) {
      this.omit();
      return;
    }
    const value = parseNestedJson(json);
    if (value !== undefined) visitNestedValues(value, key, this);
  }

  enter(path: string, key: string): string {
    // A longer path is omitted with its values. Its exact text does not matter.
    if (path.length > nestedLimits.pathCharacters) return path;
    return path === '' ? key : `${path}.${key}`;
  }

  visit(path: string, value: unknown): void {
    if (path === '') return;
    const text = value === null ? '' : String(value).toWellFormed();
    const isAdmitted =
      this.values.length < nestedLimits.values &&
      path.length <= nestedLimits.pathCharacters &&
      text.length <= nestedLimits.valueCharacters &&
      this.#characters + path.length + text.length <= nestedLimits.characters;
    if (!isAdmitted) {
      this.omit();
      return;
    }
    this.#characters += path.length + text.length;
    this.values.push({ path: path.toWellFormed(), text, type: getNestedType(value) });
  }

  omit(): void {
    this.omittedCount++;
  }
}

const getNestedType = (value: unknown): NestedType => {
  if (value === null) return 'n';
  if (typeof value === 'bigint') return 'i';
  if (typeof value === 'number') return Number.isInteger(value) ? 'i' : 'd';
  return typeof value === 'boolean' ? 'b' : 's';
};

/** Values inside the arrays and maps of a record's attributes, or of its body. */
export interface NestedValues {
  readonly values: readonly NestedValue[];
  /** Number of values that were omitted because of `nestedLimits`. */
  readonly omittedCount: number;
}

const noValues: NestedValues = { values: [], omittedCount: 0 };

/** Returns the values inside attributes that are arrays or maps. `text` is their JSON. */
export const readNestedAttributes = (
  attributes: readonly { readonly key: string; readonly text: string }[],
): NestedValues => {
  if (attributes.length === 0) return noValues;
  const collector = new NestedValueCollector();
  for (const { key, text } of attributes) collector.addJson(key, text);
  return collector;
};

/** Returns the values inside a body that is JSON, colored or not. Values without a key have no path. */
export const readNestedBody = (body: string): NestedValues => {
  const firstCharacter = body.trimStart()[0];
  if (firstCharacter !== '{' && firstCharacter !== '[' && firstCharacter !== '\u001b') return noValues;
  const collector = new NestedValueCollector();
  collector.addJson('', body.includes('\u001b') ? removeEscapeSequences(body) : body);
  return collector;
};

/** Returns whether a value's path is this path, or within it. */
export const isWithinPath = (path: string, outerPath: string): boolean =>
  path === outerPath || (path.startsWith(outerPath) && path[outerPath.length] === '.');
