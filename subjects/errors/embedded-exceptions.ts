/**
 * Finds exceptions in texts and in values of keys, as loggers write them: a text that a stack follows, JSON bodies, maps
 * and attributes.
 */

import { type Fields, isFields } from '../../runtime/fields.ts';
import { trimTrailing } from '../../schemas/text.ts';
import { maxLineLength, parseLine } from './line.ts';
import { toPlainStack } from './plain-stack.ts';
import { parseStack } from './stack.ts';

/** Exception of a record; empty texts for what it does not contain */
export interface FoundException {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
}

type FoundHeader = Pick<FoundException, 'type' | 'message'>;

/** Attributes that contain an exception, or a part of one, in addition to those of OpenTelemetry */
export const embeddedNames = [
  ...['stack_trace', 'stacktrace', 'stackTrace', 'StackTrace', 'stack', 'Stack', 'traceback', 'exc_info', 'thrown'],
  ...['exception', 'Exception', 'error', 'Error', 'err', '@x', 'errorVerbose', 'backtrace'],
  ...[
    'error.stack',
    'error.stack_trace',
    'error.stacktrace',
    'error.type',
    'error.name',
    'error.kind',
    'error.message',
  ],
  ...['err.stack', 'err.stack_trace', 'err.stacktrace', 'err.type', 'err.name', 'err.message'],
  ...['exception.stack', 'exception.stack_trace', 'exception.class', 'exception.name', 'exception.backtrace'],
  ...[
    'error.stackTrace',
    'error.traceback',
    'error.backtrace',
    'exception.stackTrace',
    'exception.traceback',
    'exception.trace',
  ],
  ...['error_stack', 'errorStack', 'stack_info', 'call_stack', 'callstack', 'throwable', 'trace'],
] as const;

const maxTextLength = 65_536;
const maxDepth = 6;
const maxStacks = 8;
const maxItems = 600;

/** Names of types, messages and stacks in an object that describes an exception, without case, `_`, `-` and `.` */
const typeKeys = ['type', 'exctype', 'class', 'classname', 'kind', 'name'];
const logKeys = ['message', 'msg', '@m', 'event', 'shortmessage'];
const messageKeys = ['message', 'excvalue', 'msg', 'reason', 'detail'];
/** What names of flat keys begin with: `error.type`, `exceptionClass`, `err.message` */
const exceptionPrefix = /^(?:err(?:or)?|exc(?:eption)?|thrown)/;
const stackKey = /stack|trace|exc|thrown|err|^@x$/;

const normalizeKey = (key: string): string => key.toLowerCase().replace(/[_.-]/g, '');

const parseJson = (text: string): unknown => {
  if (text.length > maxTextLength || !/^[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the first text among keys. */
const findText = (values: Fields, names: readonly string[]): string => {
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(values)) {
    const name = normalizeKey(key);
    if (typeof value === 'string' && value !== '' && !texts.has(name)) texts.set(name, value);
  }
  for (const name of names) {
    const text = texts.get(name);
    if (text !== undefined) return text;
  }
  return '';
};

const flatNames = (names: readonly string[]): string[] =>
  ['exception', 'error', 'err', 'exc', 'thrown'].flatMap((prefix) => names.map((name) => `${prefix}${name}`));
const flatTypes = flatNames(typeKeys);
const flatMessages = flatNames(messageKeys);

/** Returns a frame that is an object (Log4j, logstash, structlog) as its language writes it. */
const toFrame = (value: unknown): string => {
  if (!isFields(value)) return typeof value === 'string' ? value : '';
  const type = findText(value, ['class', 'classname', 'declaringclass']);
  const method = findText(value, ['method', 'methodname', 'function', 'func']);
  const file = findText(value, ['file', 'filename', 'source']);
  const line = value['line'] ?? value['lineNumber'] ?? value['lineno'];
  if (type === '' && file !== '')
    return value['lineno'] === undefined
      ? `    at ${method} (${file}:${line}:1)`
      : `  File "${file}", line ${line}, in ${method || findText(value, ['name'])}`;
  return type === '' || method === ''
    ? ''
    : `\tat ${type}.${method}(${file || 'Unknown Source'}${file ? `:${line}` : ''})`;
};

const toStack = (items: readonly unknown[]): string => {
  const text = items.slice(0, maxItems).map(toFrame).join('\n');
  return text.includes('  File "') ? `Traceback (most recent call last):\n${text}` : text;
};

/** A text that may be a stack, with the object that contains it */
interface Candidate {
  readonly text: string;
  readonly key: string;
  readonly owner: Fields;
  /** Whether the owner describes an exception only, so that its `type` is that of the exception */
  readonly isOwn: boolean;
}

/** Collects the texts of an object and of the objects in it. */
const collect = (owner: Fields, isOwn: boolean, depth: number, into: Candidate[]): void => {
  for (const [key, value] of Object.entries(owner)) {
    const name = normalizeKey(key);
    const parsed = typeof value === 'string' ? parseJson(value) : value;
    if (isFields(parsed)) collectInner([parsed], stackKey.test(name), depth, into);
    else if (Array.isArray(parsed)) {
      into.push({ text: toStack(parsed), key: name, owner, isOwn });
      collectInner(parsed, true, depth, into);
    } else if (typeof value === 'string') into.push({ text: value, key: name, owner, isOwn });
  }
};

const collectInner = (items: readonly unknown[], isOwn: boolean, depth: number, into: Candidate[]): void => {
  if (depth < maxDepth)
    for (const item of items.slice(0, maxStacks)) if (isFields(item)) collect(item, isOwn, depth + 1, into);
};

/** Returns an exception whose stack is in its message, as some recorders write it, with the stack in its own field. */
export const separateStack = <Input extends FoundException>(input: Input): Input => {
  const match = input.stack === '' ? findInText(input.message) : undefined;
  return match === undefined
    ? input
    : { ...input, type: input.type || match.type, message: match.message, stack: match.stack };
};

/** Returns whether a text has several lines, which may be escaped. */
const hasLines = (text: string): boolean => text.includes('\n') || text.includes('\\n');

/** Finds a stack in the values of keys, at any depth, with its type and message. */
export const findEmbedded = (values: Fields): FoundException | undefined => {
  const candidates: Candidate[] = [];
  if (Object.keys(values).length === 0) return undefined;
  collect(values, false, 0, candidates);
  const rank = ({ key }: Candidate): number => (/stack|trace/.test(key) ? 0 : stackKey.test(key) ? 1 : 2);
  const stacks = candidates.filter(({ text }) => hasLines(text)).sort((left, right) => rank(left) - rank(right));
  for (const { text, owner, isOwn } of stacks.slice(0, maxStacks)) {
    const match = findInText(text);
    if (match === undefined) continue;
    const type = (isOwn ? findText(owner, typeKeys) : '') || findText(values, flatTypes);
    const message = (isOwn ? findText(owner, messageKeys) : '') || findText(values, flatMessages);
    const logged = message || match.message || findText(values, logKeys);
    return { type: type || match.type, message: logged, stack: match.stack };
  }
  const type = findText(values, flatTypes) || findOwnText(values, typeKeys);
  return type === '' || !/^[A-Za-z_*][\w.$:\\*/]*$/.test(type) ? undefined : { type, message: '', stack: '' };
};

/** Returns a text of the first object that describes an exception. */
const findOwnText = (values: Fields, names: readonly string[]): string => {
  for (const [key, value] of Object.entries(values)) {
    const parsed = typeof value === 'string' ? parseJson(value) : value;
    if (exceptionPrefix.test(normalizeKey(key)) && isFields(parsed)) return findText(parsed, names);
  }
  return '';
};

/** An escaped line break, or a key that may describe an exception */
const exceptionInJson = /\\n|"(?:err|exc|thrown|stack|trace|call_?stack|back_?trace|extended)[^"]*"\s?:/i;

/** A quoted value of logfmt */
const logfmtValue = /(?<![^\s])([\w.@-]{1,64})="((?:[^"\\]|\\.)*)"/g;

/** Finds an exception in the values of logfmt, or in a text. */
const findInLine = (body: string): FoundException | undefined => {
  const isLogfmt = body.includes('\\n') && !body.includes('\n') && /^[\w.@-]{1,64}=/.test(body);
  const values = isLogfmt
    ? [...body.matchAll(logfmtValue)].map(([, key = '', value = '']) => [key, value] as const)
    : [];
  return (values.length > 0 ? findEmbedded(Object.fromEntries(values)) : undefined) ?? findInText(body);
};

/** Finds an exception in a body, which may be a JSON object. */
export const findInBody = (body: string): FoundException | undefined => {
  if (!body.startsWith('{')) return findInLine(body);
  const values = exceptionInJson.test(body) ? parseJson(body) : {};
  return isFields(values) ? findEmbedded(values) : findInText(body);
};

/** Scans each word once, from its beginning. */
const exceptionHeader = /(?<![\w$.\\])[\d$.\\]*([A-Za-z_][\w$.\\]*(?:Error|Exception|Panic))\b:? ?([^\n]{0,2000})/;
/** What runtimes write before the type of an exception that nobody caught */
const uncaught =
  /(?:Uncaught(?: exception)?|Unhandled exception\.|Exception in thread "[^"\n]{0,200}"|\*\*(?= \()) \(?'?([A-Za-z_][\w$.\\:]*[\w$])\)?'?:? ?([^\n]{0,2000})/;
/** A line of a type and a message, or of a type alone, possibly after other words and a colon */
const typeLine = /^(?:[^:]{0,200}: )?([A-Za-z_][\w$]*(?:(?:\.|\\|::)[A-Za-z_][\w$]*)*)(?:: (.*))?$/;
/** Returns whether a name is that of a type: it has a package, or begins with a capital and is not a level of a log. */
const isTypeName = (name: string): boolean => /[.\\:]/.test(name) || (/^[A-Z]/.test(name) && /[a-z]/.test(name));

/** What runtimes of C++ print of an exception that nobody caught */
const terminated: readonly RegExp[] = [
  /terminate called after throwing an instance of '(?<type>[^'\n]{1,200})'(?:\s{1,9}what\(\): {1,9}(?<message>[^\n]{0,2000}))?/,
  /terminating (?:due to|with) uncaught exception of type (?<type>[\w:<>]{1,200})(?:: (?<message>[^\n]{0,2000}))?/,
];

const readTerminated = (text: string): FoundHeader | undefined => {
  for (const pattern of terminated) {
    const { type, message = '' } = pattern.exec(text)?.groups ?? {};
    if (type !== undefined) return { type, message };
  }
  return readNimHeader(text);
};

const nimStart = 'Error: unhandled exception: ';
/** Reads `Error: unhandled exception: message [Type]`. */
const readNimHeader = (text: string): FoundHeader | undefined => {
  const start = text.indexOf(nimStart);
  if (start < 0) return undefined;
  const [line = ''] = text.slice(start + nimStart.length).split('\n', 1);
  const open = line.lastIndexOf(' [');
  return open < 0 ? undefined : { type: line.slice(open + 2, line.lastIndexOf(']')), message: line.slice(0, open) };
};

const railsHeader = /^([A-Z][\w:]{0,200}) \((.*)\):$/;

/** Returns the type and message of the first line of a Ruby exception: `file:1:in 'f': message (Type)`. */
const readRubyHeader = (line: string): FoundHeader | undefined => {
  const open = line.lastIndexOf(' (');
  const type = line.slice(open + 2, -1);
  const start = line.indexOf("': ");
  return line.endsWith(')') && start > 0 && start < open && /^[A-Z][\w:]{0,200}$/.test(type)
    ? { type, message: line.slice(start + 3, open) }
    : undefined;
};

/** Returns the type and message before the frames of a stack. */
const readHeader = (text: string): FoundHeader | undefined => {
  const start = text.slice(0, 4_096);
  return readTerminated(start) ?? readFirstLines(start);
};

const readFirstLines = (start: string): FoundHeader | undefined => {
  const match = uncaught.exec(start) ?? exceptionHeader.exec(start);
  if (match !== null) return { type: match[1] ?? '', message: match[2] ?? '' };
  const lines = start.split('\n').map((line) => line.slice(0, maxLineLength));
  const ruby = lines.map((line) => readRubyHeader(line.trimEnd())).find((header) => header !== undefined);
  if (ruby !== undefined) return ruby;
  const rails = railsHeader.exec((lines[0] ?? '').trimEnd());
  if (rails !== null) return { type: rails[1] ?? '', message: rails[2] ?? '' };
  // The first indented line is a frame.
  const frame = lines.findIndex((line, at) => at > 0 && /^\s+\S/.test(line));
  const typed = typeLine.exec((lines[frame - 1] ?? '').trimEnd());
  return typed === null || !isTypeName(typed[1] ?? '') ? undefined : { type: typed[1] ?? '', message: typed[2] ?? '' };
};

/** Returns the message behind the type of a Python exception, which follows its frames. */
const readPythonMessage = (lines: readonly string[], type: string): string => {
  for (const line of lines.toReversed()) {
    const text = line.replace(/^[\s|│+]+/, '');
    if (text.startsWith(`${type}: `)) return text.slice(type.length + 2).trim();
  }
  return '';
};

const startsStack = /Traceback \(most recent call last\)|^\s*[-╭+|]{3}/;

/** Finds a stack in a text, with its type and message; `undefined` if no frame and no end of a program is in it. */
export const findInText = (text: string): FoundException | undefined => {
  if (!hasLines(text.trimEnd()) && !text.includes('terminat')) return undefined;
  const plain = toPlainStack(text);
  const { language, chain } = parseStack(plain);
  if (language === undefined) {
    const ended = readTerminated(plain.slice(0, 4_096));
    return ended && { type: ended.type, message: ended.message, stack: '' };
  }
  const lines = plain.trimStart().split('\n');
  const [first = ''] = lines;
  if (language === 'python') {
    const type = chain[0]?.type ?? '';
    const message =
      startsStack.test(first) && type !== '' ? readPythonMessage(lines, type) : trimTrailing(first.trimEnd(), ':');
    return { type, message: message || type || first, stack: plain };
  }
  const header = readHeader(plain);
  const message = header?.message ?? (parseLine(first.trim()) === undefined ? first : '');
  return { type: chain[0]?.type || header?.type || '', message, stack: plain };
};
