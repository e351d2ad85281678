/**
 * Parses single lines of stacks. Lines have at most `maxLineLength` characters, which bounds the time of every expression
 * here.
 */
import type { Language, Line } from './frame.ts';

export const maxLineLength = 1_024;

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

/** Returns the index of the parenthesis that closes the first one, or -1. */
const findClosingParenthesis = (text: string): number => {
  let depth = 0;
  for (let at = text.indexOf('('); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 40) depth++;
    else if (code === 41 && --depth === 0) return at;
  }
  return -1;
};

const locationPattern = /^(.*?)(?::(\d{1,9}))?(?::(\d{1,9}))?$/;

/** Parses the location of a JavaScript frame, `file:12:5` or a placeholder. */
const createJavaScriptLine = (name: string, location: string): Line => {
  const [, file = '', line, column] = locationPattern.exec(location.replace(/^address at /, '')) ?? [];
  return createLine('javascript', name, location.startsWith('eval at ') ? '<eval>' : file, line, column);
};

const javaLocation = /^(?:Native Method|Unknown Source|<generated>|[^\s:()]+\.[a-z]\w*(?::(\d{1,9}))?)$/i;
/** Jar of the class, which logging libraries append to a Java frame */
const jarSuffixPattern = / ~?\[[^[\]]*\]$/;
const dotnetLineNumber = /:line (\d{1,9})$/;
/** Offset of the instruction, which native code of .NET has instead of a line */
const nativeOffset = / \+ 0x[0-9a-f]{1,16}$/i;
/** Offset of the instruction in Mono */
const monoOffset = / \[0x[0-9a-f]{1,16}\]/;
const monoLocation = /^ in (.*):(\d{1,9})$/;
const unityLocation = / \(at ([^()]{1,500}):(\d{1,9})\)$/;

/** Parses `at …`: JavaScript in V8, Java, .NET, and PHP as OpenTelemetry writes it. */
const parseAtLine = (text: string): Line | undefined => {
  if (!text.startsWith('at ')) return undefined;
  const rest = text.slice(3).replace(jarSuffixPattern, '').replace(nativeOffset, '');
  const ilOffset = monoOffset.exec(rest);
  if (ilOffset !== null)
    return monoLine(rest.slice(0, ilOffset.index), rest.slice(ilOffset.index + ilOffset[0].length));
  const dotnet = dotnetLineNumber.exec(rest);
  const [call = '', ...file] = dotnet === null ? [] : rest.slice(0, dotnet.index).split(' in ');
  if (file.length > 0) return createDotnetLine(call, file.join(' in '), dotnet?.[1]);
  const open = findOpeningParenthesis(rest);
  if (open < 0)
    return /:\d{1,9}:\d{1,9}$/.test(rest) ? createJavaScriptLine('', rest.replace(/^async /, '')) : undefined;
  const location = rest.slice(open + 1, -1);
  if (rest[open - 1] === ' ') return createJavaScriptLine(rest.slice(0, open), location);
  const java = javaLocation.exec(location);
  if (java === null) return createDotnetLine(rest, undefined, undefined);
  const name = rest.slice(0, open);
  const dot = name.lastIndexOf('.');
  const isPhp = /\.php(?::|$)/.test(location);
  return createLine(
    isPhp ? 'php' : 'java',
    name.slice(dot + 1),
    isPhp ? location.replace(/:\d+$/, '') : name.slice(0, dot),
    java[1],
  );
};

const createDotnetLine = (call: string, file: string | undefined, line: string | undefined): Line | undefined => {
  const open = findOpeningParenthesis(call);
  const name = open < 0 ? call : call.slice(0, open);
  return name.includes('.') ? createLine('dotnet', name, file ?? '', line) : undefined;
};

/** Parses a frame of Mono and Unity: a call with a blank before its arguments, and its place. */
const monoLine = (call: string, location: string): Line | undefined => {
  const [, file = '', line] = monoLocation.exec(location) ?? [];
  return createDotnetLine(call.replace(' (', '(').replace(/[/:]/g, '.'), file.startsWith('<') ? '' : file, line);
};

const parseUnityLine = (text: string): Line | undefined => {
  const unity = unityLocation.exec(text);
  return unity === null ? undefined : monoLine(text.slice(0, unity.index), ` in ${unity[1]}:${unity[2]}`);
};

/** `at` in the languages of .NET */
const dotnetAt = new Set('bei à en in em w в 場所 在 於 위치: konum: v vid ved bij kohteessa a di la på'.split(' '));
const dotnetCall = /^[\p{L}_<][^\s()]*\.[^\s()]+\(/u;
const dotnetLocation = /^ \S{1,12} (.{1,500}):\s?[^\s:]{1,12} (\d{1,9})\.?$/;

/** Parses a frame that .NET wrote in another language than English: `bei Shop.Pay.Run(Int32 id) in /src/A.cs:Zeile 5`. */
export const readTranslatedDotnet = (text: string): Line | undefined => {
  const at = text.indexOf(' ');
  const rest = text.slice(at + 1);
  if (at < 0 || at > 12 || !dotnetCall.test(rest)) return undefined;
  const end = findClosingParenthesis(rest);
  const location = rest.slice(end + 1);
  const [, file, line] = dotnetLocation.exec(location) ?? [];
  const isFrame =
    end > 0 && (file !== undefined || ((location === '' || location === '.') && dotnetAt.has(text.slice(0, at))));
  return isFrame ? createDotnetLine(rest.slice(0, end + 1), file, line) : undefined;
};

/** Parses `name@file:1:2`: Firefox and Safari. */
const parseAtSignLine = (text: string): Line | undefined => {
  const at = text.lastIndexOf('@');
  if (at < 0 || text.startsWith('@ ')) return undefined;
  const location = text.slice(at + 1);
  const isLocation = location === '[native code]' || (/:\d{1,9}$/.test(location) && /[/.]/.test(location));
  return isLocation &&
    !/^\S+ \S/.test(text.slice(0, at).replace(/^(?:global|eval|module) code|promise callback|\b\w+ handler/, ''))
    ? createJavaScriptLine(text.slice(0, at), location)
    : undefined;
};

const rubyPattern = /^(?:from )?([^\s:](?:[^:]|:(?!\d)){0,500}):(\d{1,9}):in [`'](.{1,300}?)'(?:: |$)/;
const phpPattern = /^#\d{1,4} (?:(\[internal function\])|([^()]{1,500})\((\d{1,9})\)): ([^(]{1,300})/;
const dartPattern =
  /^#\d{1,4} +(\S.{0,299}?) \(((?:package|dart|file):[^()\s]{1,500}?)(?::(\d{1,9}))?(?::(\d{1,9}))?\)$/;
const nativePattern =
  /^#\d{1,4} +(?:0x[0-9a-f]{1,16} +)?(?:in )?([^/].{0,500}?)(?: (?:at )?([^\s:]{1,500}):(\d{1,9})(?::\d{1,9})?)?(?: from .{1,300}| \(.{1,300}\+0x[0-9a-f]+\).{0,100})?$/i;
const boostPattern = /^\d{1,4}# (.{1,400}?)(?: (?:at|in) ([^\s:]{1,500})(?::(\d{1,9}))?)?$/;
const glibcPattern = /^([^\s()]{1,300})\(([^()+\s]{0,300})\+0x[0-9a-f]{1,16}\) ?\[0x[0-9a-f]{1,16}\]$/;
/** Frames of Apple's systems: number, image, address, symbol and offset */
const appleLocation = /^\d{1,4} +(\S{1,200}) +0x[0-9a-f]{1,16} (\S.{0,500}) \+ \d{1,9}$/;
/** Frames of Swift on Linux */
const swiftLocation =
  /^\d{1,4} (?:\[[a-z]{1,12}\] ){0,3}(?:0x[0-9a-f]{1,16} )(?:\[[a-z]{1,12}\] ){0,3}(\S.{0,500}?)(?: \+ \d{1,9})? in (\S{1,200})(?: at (\S{1,500}?):(\d{1,9})(?::\d{1,9})?)?$/;
/** Frames of Zig: a place, an address, a function and its module */
const zigLocation = /^(\S{1,500}?):(\d{1,9}):\d{1,9}: 0x[0-9a-f]{1,16} in (\S{1,300}) \(/;
const rustPattern = /^\d{1,4}: +(?:0x[0-9a-f]{1,16} - )?([^\s(].{0,500})$/;

const parseNumberedLine = (text: string): Line | undefined => {
  const php = phpPattern.exec(text);
  if (php !== null) return createLine('php', php[4] ?? '', php[1] ?? php[2] ?? '', php[3]);
  const dart = dartPattern.exec(text);
  if (dart !== null) return createLine('dart', dart[1] ?? '', dart[2] ?? '', dart[3], dart[4]);
  const native = nativePattern.exec(text);
  // Without a location, arguments or an address, this may be any text after a number.
  if (native === null || (native[2] === undefined && !/\(|0x/.test(text))) return undefined;
  return createLine('native', native[1] ?? '', native[2] ?? '', native[3]);
};

/** Parses `1: shop::reserve` of Rust and `1# shop::reserve at x.cpp:1` of Boost. */
const parseCountedLine = (text: string): Line | undefined => {
  const apple = appleLocation.exec(text);
  if (apple !== null) return createLine('native', apple[2] ?? '', apple[1] ?? '');
  const swift = text.includes(' in ') ? swiftLocation.exec(text) : null;
  if (swift !== null) return createLine('native', swift[1] ?? '', swift[3] ?? swift[2] ?? '', swift[4]);
  const boost = boostPattern.exec(text);
  if (boost !== null) return createLine('native', boost[1] ?? '', boost[2] ?? '', boost[3]);
  const rust = rustPattern.exec(text);
  return rust?.[1]?.includes('::') ? createLine('rust', rust[1], '') : undefined;
};

const parseGlibcLine = (text: string): Line | undefined => {
  const glibc = text.endsWith(']') ? glibcPattern.exec(text) : null;
  return glibc === null ? undefined : createLine('native', glibc[2] ?? '', glibc[1] ?? '');
};

const parseRubyLine = (text: string): Line | undefined => {
  const ruby = text.includes(':in ') ? rubyPattern.exec(text) : null;
  return ruby === null ? undefined : createLine('ruby', ruby[3] ?? '', ruby[1] ?? '', ruby[2]);
};

const parseZigLine = (text: string): Line | undefined => {
  const zig = text.includes(': 0x') ? zigLocation.exec(text) : null;
  return zig === null ? undefined : createLine('native', zig[3] ?? '', zig[1] ?? '', zig[2]);
};

/** Place of an error of PowerShell, which the line of the script follows */
const powershellLocation = /^At (\S.{0,500}\.psm?1):(\d{1,9}) char:\d{1,9}$/;

/** Parses the line of a script of PowerShell, with its place on the line before. */
export const parseScriptLine = (location: string, code: string): Line | undefined => {
  const powershell = location.startsWith('At ') ? powershellLocation.exec(location) : null;
  return powershell === null ? undefined : createLine('other', code, powershell[1] ?? '', powershell[2]);
};

/** Parses a frame that is contained in a single line. */
export const parseLine = (text: string): Line | undefined => {
  if (text.startsWith('#')) return parseNumberedLine(text);
  if (text.startsWith('at ')) return parseAtLine(text);
  const countedLine = /^\d/.test(text) ? parseCountedLine(text) : undefined;
  return (
    countedLine ??
    parseUnityLine(text) ??
    parseGlibcLine(text) ??
    parseZigLine(text) ??
    parseRubyLine(text) ??
    parseAtSignLine(text)
  );
};

const pythonPattern = /^File "([^"]{0,500})", line (\d{1,9})(?:, in (.{1,300}))?$/;

/** Frames of IPython and of the library `rich`: a cell, a file with its line before or after the function */
const cellLocation =
  /^(?:Cell In ?\[\d{1,9}\], line (\d{1,9})(?:, in (.{1,300}))?|Input In \[\d{1,9}\], in (.{1,300}))$/;
const notebookLocation =
  /^(?:File (?!")(\S.{0,500}?):(\d{1,9})(?:, in (.{1,300}))?|(<ipython-input-[^<>]{1,100}>|\S{1,500}\.py) in (.{1,300}))$/;
const boxLocation = /^(\S{1,500}|<[^<>]{1,100}>):(\d{1,9}) in (\S{1,300})$/;

/** Returns a function without its arguments; the body of a cell is a module. */
const notebookFunction = (text: string): string =>
  text.startsWith('<cell line') ? '<module>' : text.slice(0, text.includes('(') ? text.indexOf('(') : undefined);

const parseNotebookLine = (text: string): Line | undefined => {
  const cell = cellLocation.exec(text);
  if (cell !== null) return createLine('python', notebookFunction(cell[2] ?? cell[3] ?? ''), '<cell>', cell[1]);
  const file = notebookLocation.exec(text);
  if (file !== null)
    return createLine('python', notebookFunction(file[3] ?? file[5] ?? ''), file[1] ?? file[4] ?? '', file[2]);
  const box = boxLocation.exec(text);
  return box === null ? undefined : createLine('python', box[3] ?? '', box[1] ?? '', box[2]);
};

/** Frames of Nim, whose tracebacks begin like those of Python */
const nimPattern = /^(\S{1,500}\.nim)\((\d{1,9})\) +(\S{1,300})$/;

/** Parses `File "x.py", line 1, in f`, the frames of IPython and `rich`, and those of Nim. */
export const parsePythonLine = (text: string): Line | undefined => {
  const python = text.startsWith('File "') ? pythonPattern.exec(text) : null;
  if (python !== null) return createLine('python', python[3] ?? '', python[1] ?? '', python[2]);
  const nim = text.includes('.nim(') ? nimPattern.exec(text) : null;
  if (nim !== null) return createLine('other', nim[3] ?? '', nim[1] ?? '', nim[2]);
  return text.includes(' in ') || /^(?:Cell In|File )/.test(text) ? parseNotebookLine(text) : undefined;
};

const otherLocation =
  /(?<![\w./@~\\-])([\w./@~\\-]{1,300}\.[A-Za-z]\w{0,7})(?:"?(?:,? line |[:#])|"\},\{line,)(\d{1,9})(?::\d{1,9})?/;
/** A host, whose port looks like a line number */
const hostPattern = /\.(?:com|org|net|io|eu|de|uk|cloud|dev|svc|local|internal|lan|example|test)$/;
const otherWords = new Set(
  'in at from called function line file method characters error anonymous fn main chunk'.split(' '),
);

/** Parses a frame of any other language: a file with its line, and the name on the same line or on the line before. */
export const readOther = (text: string, before: string): Line | undefined => {
  const location = otherLocation.exec(text);
  if (location === null || hostPattern.test(location[1] ?? '')) return undefined;
  // Julia writes the call on the line before.
  const rest = text.startsWith('@ ')
    ? before
    : `${text.slice(0, location.index)} ${text.slice(location.index + location[0].length)}`;
  const names = rest.replace(/\([^()]*\)|\b0x[0-9a-f]{1,16}\b/gi, ' ').match(/[A-Za-z_][\w.:!?$]*/g) ?? [];
  const name = names.filter((value) => !otherWords.has(value.toLowerCase())).join(' ');
  return createLine('other', name, location[1] ?? '', location[2]);
};

const goPattern = /^(\S.{0,500}\.(?:go|s)):(\d{1,9})(?: \+0x[0-9a-f]{1,16})?$/;

/** Parses a Go frame: its call, and the file on the next line. */
export const parseGoLine = (call: string, location: string): Line | undefined => {
  const go = goPattern.exec(location);
  if (go === null) return undefined;
  const open = findOpeningParenthesis(call);
  return createLine('go', open > 0 ? call.slice(0, open) : call, go[1] ?? '', go[2]);
};

const rustLocationPattern = /^at (.{1,500}?)(?::(\d{1,9}))?(?::(\d{1,9}))?$/;

/** Adds the file of a Rust frame, which is on the next line. */
export const addRustLocation = (frame: Line, text: string): Line | undefined => {
  const location = frame.language === 'rust' && frame.file === '' ? rustLocationPattern.exec(text) : null;
  return location === null
    ? undefined
    : createLine('rust', frame.function, location[1] ?? '', location[2], location[3]);
};
