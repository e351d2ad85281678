/** Translates expressions of RE2, as gitleaks writes them, to JavaScript. */

/** Prefix of many expressions. It only moves the start of a match, so that matches are searched without it. */
const namePrefix = String.raw`[\w.-]{0,50}?`;

const posixClasses: Readonly<Record<string, string>> = { '[:alnum:]': 'a-zA-Z0-9' };

/** Flags in a group. Changes apply up to its end, also behind `|`. */
interface Flags {
  readonly ignoresCase: boolean;
  readonly dotAll: boolean;
}

const applyFlags = (text: string, flags: Flags): Flags => {
  const [on = '', off = ''] = text.split('-');
  return {
    ignoresCase: on.includes('i') || (flags.ignoresCase && !off.includes('i')),
    dotAll: on.includes('s') || (flags.dotAll && !off.includes('s')),
  };
};

/** Parts of an expression: an escape, a class, the beginning of a group or flags, a repetition, or a character. */
const partPattern =
  /\\x[0-9A-Fa-f]{2}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:[a-z]+:\]|[^\]\\])*\]|\(\?P<|\(\?[ims-]*[:)]|\{\d+(?:,\d*)?\}|[\s\S]/g;

const swapCase = (text: string): string => {
  const upperCase = text.toUpperCase();
  return text === upperCase ? text.toLowerCase() : upperCase;
};

/** Adds the other case of letters and ranges of letters in a class. */
const addCases = (text: string): string =>
  text.replaceAll(/\\.|[A-Za-z]-[A-Za-z]|[A-Za-z]/g, (part) => (part.startsWith('\\') ? part : part + swapCase(part)));

const translateClass = (text: string, { ignoresCase }: Flags): string => {
  let translated = text;
  for (const [name, characters] of Object.entries(posixClasses)) translated = translated.replace(name, characters);
  return ignoresCase ? addCases(translated) : translated;
};

/** Returns a part that changes no flags. */
const translatePart = (part: string, flags: Flags): string => {
  if (part === '\\z') return '$';
  if (part === '.') return flags.dotAll ? String.raw`[\s\S]` : String.raw`[^\n]`;
  if (part.startsWith('[')) return translateClass(part, flags);
  return flags.ignoresCase && /^[A-Za-z]$/.test(part) ? `[${part}${swapCase(part)}]` : part;
};

/** Returns the beginning of a group. Flags alone begin none. */
const translateGroupStart = (part: string): string => {
  if (part === '(?P<') return '(?<';
  if (part.endsWith(')')) return '';
  return part.endsWith(':') ? '(?:' : part;
};

/**
 * Returns the source of an equal expression of JavaScript without flags. Both cases of letters are written out: engines
 * differ in the letters that they take as equal.
 */
export const translateExpression = (source: string): string => {
  const outer: Flags[] = [];
  let flags: Flags = { ignoresCase: false, dotAll: false };
  let translated = '';
  for (const [part] of source.matchAll(partPattern)) {
    if (!part.startsWith('(')) {
      if (part === ')') flags = outer.pop() ?? flags;
      translated += translatePart(part, flags);
      continue;
    }
    if (!part.endsWith(')')) outer.push(flags);
    flags = applyFlags(/^\(\?([ims-]*)[:)]$/.exec(part)?.[1] ?? '', flags);
    translated += translateGroupStart(part);
  }
  return translated;
};

/** An expression without the prefix before its keyword */
export interface KeywordExpression {
  readonly source: string;
  readonly hasPrefix: boolean;
}

/** Removes the prefix of characters before a keyword, wherever the expression repeats it at its beginning. */
export const removeNamePrefix = (source: string): KeywordExpression => {
  let rest = source;
  let hasPrefix = false;
  for (const start of ['', '(?i)', '(?i:'] as const)
    if (rest.startsWith(start + namePrefix)) {
      rest = start + rest.slice(start.length + namePrefix.length);
      hasPrefix = true;
    }
  return { source: rest, hasPrefix };
};
