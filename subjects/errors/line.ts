/**
 * Parses single lines of stacks. Lines have at most `maxLine` characters, which bounds the time of every expression
 * here.
 */
import type { Language, Line } from './frame.ts';

export const maxLine = 1_024;

const createLine = (
  language: Language,
  name: string,
  file: string,
  line?: string | undefined,
  column?: string | undefined,
): Line => ({
  language,
  function: name.trim(),
  file,
  line: line === undefined ? undefined : Number(line),
  column: column === undefined ? undefined : Number(column),
});

/** Returns the index of the parenthesis that matches a final closing one, or -1. */
const findOpeningParenthesis = (text: string): number => {
  if (!text.endsWith(')')) return -1;
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === 41) depth++;
    else if (code === 40 && --depth === 0) return at;
  }
  return -1;
};

const position = /^(.*?)(?::(\d{1,9}))?(?::(\d{1,9}))?$/;

/** Parses the location of a JavaScript frame, `file:12:5` or a placeholder. */
const javaScriptLine = (name: string, place: string): Line => {
  const [, file = '', line, column] = position.exec(place) ?? [];
  return createLine('javascript', name, place.startsWith('eval at ') ? '<eval>' : file, line, column);
};

const javaLocation = /^(?:Native Method|Unknown Source|<generated>|[^\s:()]+\.[a-z]\w*(?::(\d{1,9}))?)$/i;
/** Jar of the class, which logging libraries append to a Java frame */
const packaging = / ~?\[[^[\]]*\]$/;
const dotnetLineNumber = /:line (\d{1,9})$/;

/** Parses `at …`: JavaScript in V8, Java, .NET, and PHP as OpenTelemetry writes it. */
const parseAtLine = (text: string): Line | undefined => {
  if (!text.startsWith('at ')) return undefined;
  const rest = text.slice(3).replace(packaging, '');
  const dotnet = dotnetLineNumber.exec(rest);
  const [call = '', ...file] = dotnet === null ? [] : rest.slice(0, dotnet.index).split(' in ');
  if (file.length > 0) return dotnetLine(call, file.join(' in '), dotnet?.[1]);
  const open = findOpeningParenthesis(rest);
  if (open < 0) return /:\d{1,9}:\d{1,9}$/.test(rest) ? javaScriptLine('', rest.replace(/^async /, '')) : undefined;
  const place = rest.slice(open + 1, -1);
  if (rest[open - 1] === ' ') return javaScriptLine(rest.slice(0, open), place);
  const java = javaLocation.exec(place);
  if (java === null) return dotnetLine(rest, undefined, undefined);
  const name = rest.slice(0, open);
  const dot = name.lastIndexOf('.');
  const isPhp = /\.php(?::|$)/.test(place);
  return createLine(
    isPhp ? 'php' : 'java',
    name.slice(dot + 1),
    isPhp ? place.replace(/:\d+$/, '') : name.slice(0, dot),
    java[1],
  );
};

const dotnetLine = (call: string, file: string | undefined, line: string | undefined): Line | undefined => {
  const open = findOpeningParenthesis(call);
  const name = open < 0 ? call : call.slice(0, open);
  return name.includes('.') ? createLine('dotnet', name, file ?? '', line) : undefined;
};

/** Parses `name@file:1:2`: Firefox and Safari. */
const parseAtSignLine = (text: string): Line | undefined => {
  const at = text.lastIndexOf('@');
  if (at < 0) return undefined;
  const place = text.slice(at + 1);
  const isPlace = place === '[native code]' || (/:\d{1,9}$/.test(place) && /[/.]/.test(place));
  return isPlace &&
    !/^\S+ \S/.test(text.slice(0, at).replace(/^(?:global|eval|module) code|promise callback|\b\w+ handler/, ''))
    ? javaScriptLine(text.slice(0, at), place)
    : undefined;
};

const rubyPlace = /^(?:from )?([^\s:](?:[^:]|:(?!\d)){0,500}):(\d{1,9}):in [`'](.{1,300}?)'(?:: |$)/;
const phpPlace = /^#\d{1,4} (?:(\[internal function\])|([^()]{1,500})\((\d{1,9})\)): ([^(]{1,300})/;
const dartPlace = /^#\d{1,4} +(\S.{0,299}?) \(((?:package|dart|file):[^()\s]{1,500}?)(?::(\d{1,9}))?(?::(\d{1,9}))?\)$/;
const nativePlace =
  /^#\d{1,4} +(?:0x[0-9a-f]{1,16} +)?(?:in )?([^/].{0,500}?)(?: (?:at )?([^\s:]{1,500}):(\d{1,9})(?::\d{1,9})?)?(?: from .{1,300}| \(.{1,300}\+0x[0-9a-f]+\).{0,100})?$/i;
const boostPlace = /^\d{1,4}# (.{1,400}?)(?: (?:at|in) ([^\s:]{1,500})(?::(\d{1,9}))?)?$/;
const glibcPlace = /^([^\s()]{1,300})\(([^()+\s]{0,300})\+0x[0-9a-f]{1,16}\) ?\[0x[0-9a-f]{1,16}\]$/;
const rustPlace = /^\d{1,4}: +(?:0x[0-9a-f]{1,16} - )?([^\s(].{0,500})$/;

const parseNumberedLine = (text: string): Line | undefined => {
  const php = phpPlace.exec(text);
  if (php !== null) return createLine('php', php[4] ?? '', php[1] ?? php[2] ?? '', php[3]);
  const dart = dartPlace.exec(text);
  if (dart !== null) return createLine('dart', dart[1] ?? '', dart[2] ?? '', dart[3], dart[4]);
  const native = nativePlace.exec(text);
  // Without a location, arguments or an address, this may be any text after a number.
  if (native === null || (native[2] === undefined && !/\(|0x/.test(text))) return undefined;
  return createLine('native', native[1] ?? '', native[2] ?? '', native[3]);
};

/** Parses `1: shop::reserve` of Rust and `1# shop::reserve at x.cpp:1` of Boost. */
const parseCountedLine = (text: string): Line | undefined => {
  const boost = boostPlace.exec(text);
  if (boost !== null) return createLine('native', boost[1] ?? '', boost[2] ?? '', boost[3]);
  const rust = rustPlace.exec(text);
  return rust?.[1]?.includes('::') ? createLine('rust', rust[1], '') : undefined;
};

const parseGlibcLine = (text: string): Line | undefined => {
  const glibc = text.endsWith(']') ? glibcPlace.exec(text) : null;
  return glibc === null ? undefined : createLine('native', glibc[2] ?? '', glibc[1] ?? '');
};

const rubyLine = (text: string): Line | undefined => {
  const ruby = text.includes(':in ') ? rubyPlace.exec(text) : null;
  return ruby === null ? undefined : createLine('ruby', ruby[3] ?? '', ruby[1] ?? '', ruby[2]);
};

/** Parses a frame that is contained in a single line. */
export const readLine = (text: string): Line | undefined => {
  if (text.startsWith('#')) return parseNumberedLine(text);
  if (text.startsWith('at ')) return parseAtLine(text);
  const counted = /^\d/.test(text) ? parseCountedLine(text) : undefined;
  return counted ?? parseGlibcLine(text) ?? rubyLine(text) ?? parseAtSignLine(text);
};

const pythonPlace = /^File "([^"]{0,500})", line (\d{1,9})(?:, in (.{1,300}))?$/;

/** Parses `File "x.py", line 1, in f`. */
export const readPython = (text: string): Line | undefined => {
  const python = text.startsWith('File "') ? pythonPlace.exec(text) : null;
  return python === null ? undefined : createLine('python', python[3] ?? '', python[1] ?? '', python[2]);
};

const goPlace = /^(\S.{0,500}\.(?:go|s)):(\d{1,9})(?: \+0x[0-9a-f]{1,16})?$/;

/** Parses a Go frame: its call, and the file on the next line. */
export const readGo = (call: string, place: string): Line | undefined => {
  const go = goPlace.exec(place);
  if (go === null) return undefined;
  const open = findOpeningParenthesis(call);
  return createLine('go', open > 0 ? call.slice(0, open) : call, go[1] ?? '', go[2]);
};

const rustAt = /^at (.{1,500}?)(?::(\d{1,9}))?(?::(\d{1,9}))?$/;

/** Adds the file of a Rust frame, which is on the next line. */
export const addRustLocation = (frame: Line, text: string): Line | undefined => {
  const place = frame.language === 'rust' && frame.file === '' ? rustAt.exec(text) : null;
  return place === null ? undefined : createLine('rust', frame.function, place[1] ?? '', place[2], place[3]);
};
