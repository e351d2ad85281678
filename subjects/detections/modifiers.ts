/** Field modifiers: supported modifiers, valid combinations, and their effect on values */
import type { SelectionItem, SigmaValue } from './documents.ts';
import { createNetworkTest } from './network.ts';
import {
  contains,
  endsWith,
  getPatternText,
  hasWildcards,
  literalPattern,
  type Pattern,
  parsePattern,
  startsWith,
} from './pattern.ts';
import { compileRegex } from './regex.ts';

export const timeParts = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type TimePart = (typeof timeParts)[number];
const orderModifiers = ['lt', 'lte', 'gt', 'gte'] as const;
export type Order = (typeof orderModifiers)[number];
const positionModifiers = ['contains', 'startswith', 'endswith'] as const;
export type PositionModifier = (typeof positionModifiers)[number];
const encodings = ['base64', 'base64offset', 'utf16le', 'utf16be', 'utf16', 'wide'] as const;
const flags = ['i', 'm', 's'] as const;
/** Flags by their long names */
const longNames: Readonly<Record<string, string>> = { ignorecase: 'i', multiline: 'm', dotall: 's' };

const supportedModifiers: readonly string[] = [
  ...['all', 'exists', 'cased', 'neq', 'windash', 're', 'cidr', 'expand', 'fieldref'],
  ...positionModifiers,
  ...encodings,
  ...flags,
  ...orderModifiers,
  ...timeParts,
];

export const toCanonicalModifier = (modifier: string): string => longNames[modifier] ?? modifier;

/** Returns which of the given modifiers is present; the first if there are several. */
export const findModifier = <Name extends string>(
  modifiers: readonly string[],
  names: readonly Name[],
): Name | undefined => names.find((name) => modifiers.includes(name));
export const findPosition = (modifiers: readonly string[]): PositionModifier | undefined =>
  findModifier(modifiers, positionModifiers);
export const findOrder = (modifiers: readonly string[]): Order | undefined => findModifier(modifiers, orderModifiers);
export const findTimePart = (modifiers: readonly string[]): TimePart | undefined => findModifier(modifiers, timeParts);

/** Modifiers that cannot be combined */
const exclusiveModifiers: readonly (readonly string[])[] = [
  [...positionModifiers, ...orderModifiers, 're', 'cidr', 'exists'],
  ['re', 'cidr', 'exists', 'fieldref', 'windash'],
  [...orderModifiers, 'neq', 'exists'],
  ['base64', 'base64offset'],
  ['utf16le', 'utf16be', 'utf16', 'wide'],
  [...timeParts],
];

const maxPermutations = 4;
const dashes = ['-', '/', '–', '—', '―'];
const dashPattern = /\B[-/–—―]\b/g;

/**
 * Returns variants of a value with each dash replaced by each kind of dash. With very many dashes, all of them are
 * replaced by the same kind.
 */
export const createDashVariants = (text: string): string[] => {
  const dashMatches = [...text.matchAll(dashPattern)];
  if (dashMatches.length > maxPermutations) return [text, ...dashes.map((dash) => text.replaceAll(dashPattern, dash))];
  let variants = [text];
  for (const { index } of dashMatches)
    variants = variants.flatMap((variant) =>
      dashes.map((dashCharacter) => variant.slice(0, index) + dashCharacter + variant.slice(index + 1)),
    );
  return [...new Set(variants)];
};

const encodeUtf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

/**
 * Returns the Base64 of a text at each of the three byte alignments. The characters that depend on neighboring bytes
 * are omitted.
 */
const base64Offsets = (bytes: Buffer): string[] =>
  [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const end = [undefined, -3, -2][(bytes.length + offset) % 3];
    return encoded.slice([0, 2, 3][offset], end);
  });

const encodePattern = (pattern: Pattern, modifiers: readonly string[]): Pattern[] => {
  if (findModifier(modifiers, encodings) === undefined) return [pattern];
  const text = getPatternText(pattern);
  const bytes =
    modifiers.includes('utf16le') || modifiers.includes('wide')
      ? Buffer.from(text, 'utf16le')
      : modifiers.includes('utf16be')
        ? encodeUtf16be(text)
        : modifiers.includes('utf16')
          ? Buffer.from(`\uFEFF${text}`, 'utf16le')
          : Buffer.from(text, 'utf8');
  if (modifiers.includes('base64offset')) return base64Offsets(bytes).map(literalPattern);
  return [literalPattern(bytes.toString(modifiers.includes('base64') ? 'base64' : 'latin1'))];
};

/** Returns the patterns of a rule's text after its modifiers are applied. */
export const createPatterns = (text: string, modifiers: readonly string[]): Pattern[] => {
  const placeModifier = findPosition(modifiers);
  const addWildcards =
    placeModifier === undefined ? undefined : { contains, startswith: startsWith, endswith: endsWith }[placeModifier];
  const texts = modifiers.includes('windash') ? createDashVariants(text) : [text];
  return texts
    .flatMap((value) => encodePattern(parsePattern(value), modifiers))
    .map((pattern) => (addWildcards === undefined ? pattern : addWildcards(pattern)));
};

const isNumber = (value: SigmaValue): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value));

const findRegexError = (value: string, modifiers: readonly string[]): string | undefined => {
  const regex = compileRegex(value, modifiers);
  return typeof regex === 'string' ? `"${value}" is not a valid regular expression: ${regex}` : undefined;
};

/** Returns the error of a value under these modifiers. */
const findValueError = (value: SigmaValue, modifiers: readonly string[]): string | undefined => {
  const has = (name: string): boolean => modifiers.includes(name);
  const isNumeric = findOrder(modifiers) !== undefined || findTimePart(modifiers) !== undefined;
  if (has('exists')) return typeof value === 'boolean' ? undefined : 'exists expects true or false';
  if (isNumeric) return isNumber(value) ? undefined : `${value} is not a number`;
  if (has('cidr') && createNetworkTest(String(value)) === undefined)
    return `"${value}" is not a network such as 10.0.0.0/8`;
  if (has('re')) return findRegexError(String(value), modifiers);
  if (has('fieldref') && typeof value !== 'string') return 'fieldref expects the name of a field';
  if (
    findModifier(modifiers, encodings) !== undefined &&
    typeof value === 'string' &&
    hasWildcards(parsePattern(value))
  )
    return 'wildcards cannot be encoded: escape them with a backslash';
  return undefined;
};

/** Returns the error of a selection item; `undefined` if it can be compiled. */
export const findItemError = ({ modifiers: itemModifiers, values, field }: SelectionItem): string | undefined => {
  const modifiers = itemModifiers.map(toCanonicalModifier);
  const unknown = modifiers.find((modifier) => !supportedModifiers.includes(modifier));
  if (unknown !== undefined) return `the modifier "${unknown}" does not exist`;
  if (modifiers.some((modifier, at) => modifiers.indexOf(modifier) !== at)) return 'a modifier is repeated';
  for (const group of exclusiveModifiers) {
    const [firstModifier, secondModifier] = group.filter((value) => modifiers.includes(value));
    if (firstModifier !== undefined && secondModifier !== undefined)
      return `${firstModifier} and ${secondModifier} cannot be combined`;
  }
  const flag = findModifier(modifiers, flags);
  if (flag !== undefined && !modifiers.includes('re')) return `${flag} needs the modifier re before it`;
  const needsField = findModifier(modifiers, ['exists', 'fieldref', 'neq']);
  if (field === '' && needsField !== undefined) return `${needsField} needs a field`;
  return values.map((value) => findValueError(value, modifiers)).find((error) => error !== undefined);
};
