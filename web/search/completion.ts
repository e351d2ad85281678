/** Completion of searches, names and lists of names: finds what is typed before the cursor, and inserts suggestions */
import { quote, quoteFieldName } from '../frame/conditions.ts';

/** Range of the text that a suggestion replaces */
interface TextRange {
  readonly from: number;
  readonly to: number;
}

export type CompletionInput =
  | ({ readonly kind: 'name'; readonly prefix: string } & TextRange)
  | ({ readonly kind: 'value'; readonly name: string; readonly prefix: string } & TextRange);

/** Matches a name, a colon, an optional operator, and the start of a value before the cursor */
const valuePattern =
  /(?:^|[\s(])-?(?:([\p{L}_@$][\p{L}\p{N}_.@$/-]*)|"((?:[^"\\]|\\.)*)"):(?:[<>]=?)?(?:"((?:[^"\\]|\\.)*)|([^\s()"]*))$/u;
const namePattern = /(?:^|[\s(])-?([\p{L}_@$][\p{L}\p{N}_.@$/-]*|)$/u;

/** Returns the name or value to complete before the cursor; `undefined` if there is none, for example in a phrase. */
export const parseInput = (text: string, caret: number): CompletionInput | undefined => {
  const before = text.slice(0, caret);
  const valueMatch = valuePattern.exec(before);
  if (valueMatch !== null) {
    const [, plainName, quotedName, phrase, word = ''] = valueMatch;
    const length = phrase === undefined ? word.length : phrase.length + 1;
    return {
      kind: 'value',
      name: plainName ?? (quotedName ?? '').replace(/\\(.)/g, '$1'),
      prefix: (phrase ?? word).replace(/\\(.)/g, '$1'),
      from: caret - length,
      to: caret,
    };
  }
  const nameMatch = namePattern.exec(before);
  if (nameMatch === null || isInQuotes(before)) return undefined;
  const [, prefix = ''] = nameMatch;
  return { kind: 'name', prefix, from: caret - prefix.length, to: caret };
};

const isInQuotes = (text: string): boolean => {
  let isOpen = false;
  for (let at = 0; at < text.length; at++)
    if (text[at] === '\\') at++;
    else if (text[at] === '"') isOpen = !isOpen;
  return isOpen;
};

/** Quotes a value unless it is a single word. */
const quoteIfNeeded = (text: string): string => (/^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u.test(text) ? text : quote(text));

/** Returns the text and the cursor position after a suggestion is inserted. */
export const insertSuggestion = (
  text: string,
  input: CompletionInput,
  suggestion: string,
): { readonly text: string; readonly caret: number } => {
  const after = text.slice(input.to);
  const inserted =
    input.kind === 'name'
      ? `${quoteFieldName(suggestion)}:`
      : `${quoteIfNeeded(suggestion)}${after.startsWith(' ') ? '' : ' '}`;
  return { text: text.slice(0, input.from) + inserted + after, caret: input.from + inserted.length };
};

/** What an input contains: where a suggestion applies, and the text after it is inserted */
export interface InputFormat {
  /** Whether another suggestion may follow an inserted one, as values follow the name of a field */
  readonly isSequence: boolean;
  parse(text: string, caret: number): CompletionInput | undefined;
  insert(text: string, input: CompletionInput, suggestion: string): { readonly text: string; readonly caret: number };
}

/** A search of logs, spans or series */
export const searchFormat: InputFormat = {
  isSequence: true,
  parse: parseInput,
  insert: insertSuggestion,
};

const insertVerbatim: InputFormat['insert'] = (text, input, suggestion) => ({
  text: text.slice(0, input.from) + suggestion + text.slice(input.to),
  caret: input.from + suggestion.length,
});

/** One name or value, which is the whole text */
export const nameFormat: InputFormat = {
  isSequence: false,
  parse: (text) => ({ kind: 'name', prefix: text.trim(), from: 0, to: text.length }),
  insert: insertVerbatim,
};

/** Names separated by commas */
export const nameListFormat: InputFormat = {
  isSequence: false,
  parse(text, caret) {
    const start = text.lastIndexOf(',', caret - 1) + 1;
    const nextComma = text.indexOf(',', caret);
    const prefix = text.slice(caret === 0 ? 0 : start, caret).trimStart();
    const rest = text.slice(caret, nextComma < 0 ? text.length : nextComma);
    return { kind: 'name', prefix, from: caret - prefix.length, to: caret + rest.trimEnd().length };
  },
  insert: insertVerbatim,
};
