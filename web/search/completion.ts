/** Completion of a search: finds the field name or value before the cursor, and inserts suggestions */
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
