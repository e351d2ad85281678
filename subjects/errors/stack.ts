/** Parses stacks to frames and chains of causes. Time is linear in the text, which is truncated first. */

import { type GroupedException, isExceptionGroup, parseExceptionGroup } from './exception-groups.ts';
import type { Frame, Language, Line } from './frame.ts';
import {
  addRustLocation,
  maxLineLength,
  parseGoLine,
  parseLine,
  parsePythonLine,
  parseScriptLine,
  readOther,
  readTranslatedDotnet,
} from './line.ts';
import { frameName } from './names.ts';
import { toPlainStack } from './plain-stack.ts';

/** One exception of a chain */
export interface RaisedException {
  /** Type of the exception; empty if the stack does not contain it */
  readonly type: string;
  /** Frames, the raise site first */
  readonly frames: readonly Frame[];
}

export interface Stack {
  /** `undefined` if there are no frames */
  readonly language: Language | undefined;
  /** The recorded exception, followed by its causes */
  readonly chain: readonly RaisedException[];
}

/**
 * Maximum number of characters of a stack that are stored and parsed. Some languages write last what others write
 * first, so the start and end remain.
 */
export const maxStackLength = 16_384;
const maxLines = 600;
const maxChain = 8;

/** Truncates a stack for storage by removing its middle. */
export const truncateStack = (text: string): string =>
  text.length <= maxStackLength
    ? text
    : `${text.slice(0, maxStackLength / 2).toWellFormed()}\n  …\n${text.slice(text.length - maxStackLength / 2 + 8).toWellFormed()}`;

interface Section {
  type: string;
  readonly lines: Line[];
}

const typePattern = /^([A-Za-z_$][\w$.\\:/*-]{0,200}?)(?::\s|:?$)/;
/** Returns the type of `Type: message`. */
const parseType = (text: string): string => typePattern.exec(text)?.[1] ?? '';

/** Frame of `rich` whose function is on the next line */
const cutFrame = /^\S{1,500}:\d{1,9}(?: in)?$/;
const causedByPattern = /^(?:Caused by:|\[cause\]:|Next) ?/;
const innerExceptionPattern = /---> ?(?:\(Inner Exception #\d+\) ?)?/;
/** Names of an inner exception in the languages of .NET */
const innerNames = /\b(?:inner|interna?|internen?|interne)\b|内部|внутренн|wewn|vnitř|내부/i;
/** Returns whether a line ends the stack of an inner exception in .NET. */
const isInnerEnd = (line: string): boolean => line.startsWith('--- ') && line.endsWith('---') && innerNames.test(line);
/** First line of a Ruby exception */
const rubyHeaderPattern = /\(([A-Z][\w:]{0,200})\)$/;

class StackParser {
  readonly #sections: Section[] = [{ type: '', lines: [] }];
  /** .NET writes the types of a chain first, the innermost last, followed by the frames of the innermost. */
  #dotnetTypes: string[] = [];
  #isPython = false;
  /** Whether the innermost cause is written first */
  #isInnermostFirst = false;
  #isSuppressed = false;
  /** Start of a frame that goes on in the next line, as in a narrow box of `rich` */
  #frameStart = '';
  #goroutines = 0;

  read(text: string): Stack {
    let previousLine = '';
    for (const raw of text.split('\n', maxLines)) {
      const line = raw.slice(0, maxLineLength).trim();
      if (line !== '') this.#readLine(line, previousLine, raw);
      previousLine = line;
      // Only the first goroutine is parsed: the one that panicked.
      if (this.#goroutines > 1) break;
    }
    return this.#buildStack();
  }

  get #last(): Section {
    return this.#sections.at(-1) as Section;
  }

  #readLine(text: string, previousLine: string, raw: string): void {
    const line = text.replace(/^(?:[|+│] ?)+(?=\S)/, '');
    if (line.includes('Traceback (most recent call last)')) {
      this.#isPython = true;
      this.#sections.push({ type: '', lines: [] });
    } else if (this.#isPython) this.#readPythonLine(line.replace(/(?<!\s)\s*[|│]$/, ''), raw);
    else if (line.startsWith('goroutine ') && line.endsWith(':')) this.#goroutines++;
    else if (causedByPattern.test(line)) this.#readCause(line, raw);
    else if (line.startsWith('Suppressed: ')) this.#isSuppressed = true;
    else if (isInnerEnd(line)) this.#sections.push({ type: '', lines: [] });
    else if (!this.#isSuppressed) this.#readFrame(line, previousLine, raw);
  }

  #readCause(line: string, raw: string): void {
    // Causes of a suppressed exception are indented like it.
    if (this.#isSuppressed && /^\s/.test(raw)) return;
    this.#isSuppressed = false;
    if (line.startsWith('Next ')) this.#isInnermostFirst = true;
    this.#sections.push({ type: parseType(line.replace(causedByPattern, '')), lines: [] });
  }

  #readFrame(line: string, previousLine: string, raw: string): void {
    const { lines } = this.#last;
    const previous = lines.at(-1);
    const frameWithLocation = previous && addRustLocation(previous, line);
    if (frameWithLocation !== undefined) {
      lines[lines.length - 1] = frameWithLocation;
      return;
    }
    const parsedLine =
      parseGoLine(previousLine, line) ??
      parseScriptLine(previousLine, line) ??
      parseLine(line) ??
      (/^\s/.test(raw) ? readTranslatedDotnet(line) : undefined);
    if (parsedLine !== undefined) this.#addLine(parsedLine, line);
    else if (lines.length === 0 && innerExceptionPattern.test(line)) {
      const types = line.split(innerExceptionPattern).map(parseType);
      this.#dotnetTypes.push(...(this.#dotnetTypes.length > 0 ? types.slice(1) : types));
      this.#isInnermostFirst = true;
    }
  }

  #addLine(parsedLine: Line, line: string): void {
    const header = parsedLine.language === 'ruby' && !line.startsWith('from ') ? rubyHeaderPattern.exec(line) : null;
    if (header !== null && this.#last.lines.length > 0)
      this.#sections.push({ type: header[1] ?? '', lines: [parsedLine] });
    else this.#last.lines.push(parsedLine);
  }

  #readPythonLine(line: string, raw: string): void {
    const last = this.#last;
    const start = this.#frameStart;
    this.#frameStart = cutFrame.test(line) ? line : '';
    const parsedLine = parsePythonLine(start === '' ? line : `${start}${start.endsWith(' in') ? ' ' : ' in '}${line}`);
    if (parsedLine !== undefined) last.lines.push(parsedLine);
    // The chain restarts here: the earlier exception was being handled and is not the cause of the failure.
    else if (line.startsWith('During handling of the above exception')) this.#sections.length = 1;
    else if (last.type === '' && last.lines.length > 0 && /^(?: {0,2}[|+] )?[A-Za-z_]/.test(raw))
      last.type = parseType(line);
  }

  #buildStack(): Stack {
    const read = this.#sections.filter(({ lines, type }) => lines.length > 0 || type !== '');
    if (this.#isPython || this.#isInnermostFirst) read.reverse();
    const chain = read.slice(0, maxChain).map(({ type, lines }, at): RaisedException => {
      const frames = lines.map((line) => ({ ...line, name: frameName(line) }));
      // Python writes the raise site last.
      return { type: this.#dotnetTypes[at] || type, frames: this.#isPython ? frames.reverse() : frames };
    });
    return { language: chain.find(({ frames }) => frames.length > 0)?.frames[0]?.language, chain };
  }
}

/** Minimum number of lines with a file and a line number that make a text the stack of another language */
const minOtherFrames = 2;

/** Parses the lines of a text of no known language that name a file and a line. */
const parseOther = (text: string): Stack | undefined => {
  const texts = text.split('\n', maxLines).map((raw) => raw.slice(0, maxLineLength).trim());
  const lines = texts.flatMap((line, at) => readOther(line, texts[at - 1] ?? '') ?? []);
  if (lines.length < minOtherFrames) return undefined;
  return {
    language: 'other',
    chain: [{ type: '', frames: lines.map((line) => ({ ...line, name: frameName(line) })) }],
  };
};

/**
 * Returns the chain of a group: its own, followed by those of the exceptions in it. How many of them are equal, and
 * which one comes first, is chance.
 */
const parseGroup = ({ text, inner }: GroupedException): readonly RaisedException[] => {
  const chains = new Map(
    inner.map((groupedException) => {
      const chain = parseGroup(groupedException);
      return [JSON.stringify(chain.map(({ type, frames }) => [type, frames.map(({ name }) => name)])), chain];
    }),
  );
  const keys = [...chains.keys()].sort();
  return [...new StackParser().read(text).chain, ...keys.flatMap((key) => chains.get(key) ?? [])];
};

const parsePlain = (text: string): Stack => {
  if (isExceptionGroup(text)) {
    const chain = parseGroup(parseExceptionGroup(text)).slice(0, maxChain);
    return { language: 'python', chain };
  }
  const stack = new StackParser().read(text);
  return stack.language === undefined ? (parseOther(text) ?? stack) : stack;
};

/** Last result, which is cached because the same stack is parsed several times in a row. */
let lastResult: { readonly text: string; readonly stack: Stack } | undefined;

/** Parses a stack; for other texts the chain has no frames. */
export const parseStack = (text: string): Stack => {
  const truncated = truncateStack(text);
  if (lastResult?.text !== truncated) lastResult = { text: truncated, stack: parsePlain(toPlainStack(truncated)) };
  return lastResult.stack;
};
