/** Determines what is typed in a search: a field name or a value */
import { quoted, spelled } from '../frame/conditions.ts';

/** Part of the text that a suggestion replaces */
interface Place {
  readonly from: number;
  readonly to: number;
}

export type Typed =
  | ({ readonly is: 'name'; readonly prefix: string } & Place)
  | ({ readonly is: 'value'; readonly name: string; readonly prefix: string } & Place);

/** A name, its colon, an operator, and the start of a value before the cursor. */
const value =
  /(?:^|[\s(])-?(?:([\p{L}_@$][\p{L}\p{N}_.@$/-]*)|"((?:[^"\\]|\\.)*)"):(?:[<>]=?)?(?:"((?:[^"\\]|\\.)*)|([^\s()"]*))$/u;
const name = /(?:^|[\s(])-?([\p{L}_@$][\p{L}\p{N}_.@$/-]*|)$/u;

/** Returns the typed part before the cursor; `undefined` if there are no suggestions, as in a phrase. */
export const typedAt = (text: string, caret: number): Typed | undefined => {
  const before = text.slice(0, caret);
  const ofValue = value.exec(before);
  if (ofValue !== null) {
    const [, plain, inQuotes, phrase, word = ''] = ofValue;
    const length = phrase === undefined ? word.length : phrase.length + 1;
    return {
      is: 'value',
      name: plain ?? (inQuotes ?? '').replace(/\\(.)/g, '$1'),
      prefix: (phrase ?? word).replace(/\\(.)/g, '$1'),
      from: caret - length,
      to: caret,
    };
  }
  const ofName = name.exec(before);
  if (ofName === null || isInQuotes(before)) return undefined;
  const [, prefix = ''] = ofName;
  return { is: 'name', prefix, from: caret - prefix.length, to: caret };
};

const isInQuotes = (text: string): boolean => {
  let isOpen = false;
  for (let at = 0; at < text.length; at++)
    if (text[at] === '\\') at++;
    else if (text[at] === '"') isOpen = !isOpen;
  return isOpen;
};

/** Words need no quotes, so that the selected value reads naturally. */
const written = (text: string): string => (/^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u.test(text) ? text : quoted(text));

/** Returns the text and the cursor after a suggestion is accepted. */
export const insertSuggestion = (
  text: string,
  typed: Typed,
  chosen: string,
): { readonly text: string; readonly caret: number } => {
  const after = text.slice(typed.to);
  const inserted =
    typed.is === 'name' ? `${spelled(chosen)}:` : `${written(chosen)}${after.startsWith(' ') ? '' : ' '}`;
  return { text: text.slice(0, typed.from) + inserted + after, caret: typed.from + inserted.length };
};
