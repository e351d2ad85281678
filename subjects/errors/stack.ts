/** Parses stacks to frames and chains of causes. Time is linear in the text, which is truncated first. */

import { type GroupedException, isExceptionGroup, parseExceptionGroup } from './exception-groups.ts';
import type { Frame, Language, Line } from './frame.ts';
import { addRustLocation, maxLine, readGo, readLine, readOther, readPython, readTranslatedDotnet } from './line.ts';
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
const causedBy = /^(?:Caused by:|\[cause\]:|Next) ?/;
const arrow = /---> ?(?:\(Inner Exception #\d+\) ?)?/;
/** Names of an inner exception in the languages of .NET */
const innerNames = /\b(?:inner|interna?|internen?|interne)\b|内部|внутренн|wewn|vnitř|내부/i;
/** Returns whether a line ends the stack of an inner exception in .NET. */
const isInnerEnd = (line: string): boolean => line.startsWith('--- ') && line.endsWith('---') && innerNames.test(line);
/** First line of a Ruby exception */
const rubyHeader = /\(([A-Z][\w:]{0,200})\)$/;

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
    let before = '';
    for (const raw of text.split('\n', maxLines)) {
      const line = raw.slice(0, maxLine).trim();
      if (line !== '') this.#line(line, before, raw);
      before = line;
      // Only the first goroutine is parsed: the one that panicked.
      if (this.#goroutines > 1) break;
    }
    return this.#stack();
  }

  get #last(): Section {
    return this.#sections.at(-1) as Section;
  }

  #line(text: string, before: string, raw: string): void {
    const line = text.replace(/^(?:[|+│] ?)+(?=\S)/, '');
    if (line.includes('Traceback (most recent call last)')) {
      this.#isPython = true;
      this.#sections.push({ type: '', lines: [] });
    } else if (this.#isPython) this.#pythonLine(line.replace(/(?<!\s)\s*[|│]$/, ''), raw);
    else if (line.startsWith('goroutine ') && line.endsWith(':')) this.#goroutines++;
    else if (causedBy.test(line)) this.#cause(line, raw);
    else if (line.startsWith('Suppressed: ')) this.#isSuppressed = true;
    else if (isInnerEnd(line)) this.#sections.push({ type: '', lines: [] });
    else if (!this.#isSuppressed) this.#frame(line, before, raw);
  }

  #cause(line: string, raw: string): void {
    // Causes of a suppressed exception are indented like it.
    if (this.#isSuppressed && /^\s/.test(raw)) return;
    this.#isSuppressed = false;
    if (line.startsWith('Next ')) this.#isInnermostFirst = true;
    this.#sections.push({ type: parseType(line.replace(causedBy, '')), lines: [] });
  }

  #frame(line: string, before: string, raw: string): void {
    const { lines } = this.#last;
    const previous = lines.at(-1);
    const frameWithLocation = previous && addRustLocation(previous, line);
    if (frameWithLocation !== undefined) {
      lines[lines.length - 1] = frameWithLocation;
      return;
    }
    const found = readGo(before, line) ?? readLine(line) ?? (/^\s/.test(raw) ? readTranslatedDotnet(line) : undefined);
    if (found !== undefined) this.#add(found, line);
    else if (lines.length === 0 && arrow.test(line)) {
      const types = line.split(arrow).map(parseType);
      this.#dotnetTypes.push(...(this.#dotnetTypes.length > 0 ? types.slice(1) : types));
      this.#isInnermostFirst = true;
    }
  }

  #add(found: Line, line: string): void {
    const header = found.language === 'ruby' && !line.startsWith('from ') ? rubyHeader.exec(line) : null;
    if (header !== null && this.#last.lines.length > 0) this.#sections.push({ type: header[1] ?? '', lines: [found] });
    else this.#last.lines.push(found);
  }

  #pythonLine(line: string, raw: string): void {
    const last = this.#last;
    const start = this.#frameStart;
    this.#frameStart = cutFrame.test(line) ? line : '';
    const found = readPython(start === '' ? line : `${start}${start.endsWith(' in') ? ' ' : ' in '}${line}`);
    if (found !== undefined) last.lines.push(found);
    // The chain restarts here: the earlier exception was being handled and is not the cause of the failure.
    else if (line.startsWith('During handling of the above exception')) this.#sections.length = 1;
    else if (last.type === '' && last.lines.length > 0 && /^(?: {0,2}[|+] )?[A-Za-z_]/.test(raw))
      last.type = parseType(line);
  }

  #stack(): Stack {
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
  const texts = text.split('\n', maxLines).map((raw) => raw.slice(0, maxLine).trim());
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
    inner.map((each) => {
      const chain = parseGroup(each);
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
  const cut = truncateStack(text);
  if (lastResult?.text !== cut) lastResult = { text: cut, stack: parsePlain(toPlainStack(cut)) };
  return lastResult.stack;
};
