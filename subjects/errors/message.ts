/** Messages without the parts that differ between occurrences */
import type { KeyValue } from '../../queries/log-patterns/keyed-body.ts';
import { Tokens } from '../../queries/log-patterns/tokens.ts';

const tokens = new Tokens();
const maxMessageLength = 1_000;
const maxShapeLength = 300;
const mark = '<*>';

/** Words before the number of a status, which describes an error as a word does */
const statusPattern =
  /(?:\bstatus(?:[ _]?code)?|\bHTTP(?:\/\d(?:\.\d)?)?(?: error| status| response)?(?: code)?)\W{1,3}$/i;
const statusNumber = /^[1-5]\d\d(?!\d)/;
/** Words before the number of an error or an exit */
const codePattern = /\b(?:errno|sqlstate|err(?:or)?[ _]?code|exit(?:ed)?(?: with)?(?: code| status)?)\W{1,3}$/i;
const codeNumber = /^\d{1,5}(?![\d.])/;

/** Last words before the number of a status or code */
const codeWords = new Set(
  'status code statuscode http error response errno sqlstate errcode errorcode exit exited with'.split(' '),
);

/** Returns the word that ends a text, apart from up to three other characters, in small letters. */
const findLastWord = (text: string): string => {
  let end = text.length;
  while (end > 0 && end > text.length - 3 && !isLetterCode(text.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && isLetterCode(text.charCodeAt(start - 1))) start--;
  return text.slice(start, end).toLowerCase();
};
const isLetterCode = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);

/** Returns the number of a status or code, which describes an error as a word does; empty for other values. */
const findCode = (value: string, before: string): string => {
  if (!/^\d/.test(value) || !codeWords.has(findLastWord(before))) return '';
  const status = statusPattern.test(before) ? statusNumber.exec(value) : null;
  const code = status ?? (codePattern.test(before) ? codeNumber.exec(value) : null);
  return code === null ? '' : code[0];
};

/** Nouns before a name, whose words are not part of the error: `user alice42` */
const namePattern =
  /\b(?:user|account|login|customer|tenant|host|node|pod|server|device|instance|container|session|token|file|table|topic|queue|bucket|key|name|id|sku|item)\W{1,3}$/i;

/** Returns whether letters read as a word: four or more with a vowel, in the case of words or of `camelCase`. */
const isWord = (letters: string): boolean =>
  /[aeiouy]/i.test(letters) &&
  /^(?:[a-z]{4,}|[A-Z]{4,}|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+|[A-Z][a-z]{3,})$/.test(letters);

/** Returns a part without its number if the rest is a word; otherwise the mark. */
const maskPart = (part: string): string => {
  const digit = part.search(/\d/);
  if (digit < 0) return isWord(part) ? part : mark;
  const letters = part.slice(0, digit);
  const isNumbered = /^\d+$/.test(part.slice(digit)) && !/^[0-9a-f]+$/i.test(part);
  return isNumbered && isWord(letters) ? `${letters}${mark}` : mark;
};

/** Returns the words of an id such as `order-17` or `OrderFailed500`; empty if there is none. */
const maskId = (id: string): string => {
  if (id.length > 64 || !/\d/.test(id) || !/^[\w-]+$/.test(id)) return '';
  const maskedId = id.replace(/[^\W_]+/g, maskPart);
  return /[A-Za-z]/.test(maskedId) ? maskedId : '';
};

/** Returns the text that is compared for a variable: its words, or the number of a status or code. */
const maskValue = (value: string, before: string): string => {
  const code = findCode(value, before);
  if (code !== '') return code;
  if (!/[A-Za-z]{4}/.test(value) || namePattern.test(before)) return mark;
  const ids = value.split(/[\s,;()[\]{}"'=<>]+/).map(maskId);
  const [found] = ids.filter((id) => id !== '');
  return found ?? mark;
};

const maskText = (text: string): string => {
  tokens.read(text.trimStart());
  return tokens.maskVariables(mark, maskValue).trim().slice(0, maxMessageLength);
};

/** Keys, without case, of the error next to a message: `{"msg":"request failed","error":"connection refused"}` */
const errorKey =
  /^(?:(?:fields|data|context|extra|log)\.)?(?:err(?:or)?|exception|cause|reason)(?:[._-]?(?:message|msg|detail|type|name|kind|class|code))?$/i;
const mayHaveError = /err|exception|cause|reason/i;
/** Keys of texts that describe no error */
const otherKey =
  /(?:agent|browser|path|ur[il]|host|time|date|thread|logger|caller|file|source|stack|trace|level|severity|user|query|referr?er|addr|version|id|ip|tag|env|name|at|ts)\d*s?$/i;

/** Returns whether a text is prose: words with blanks between them, or letters outside ASCII. */
const isProse = (text: string): boolean => /[A-Za-z]{2}\W{0,2} \W{0,2}[A-Za-z]|[^\p{ASCII}\P{L}]/u.test(text);

const findLongestText = (fields: readonly KeyValue[]): string => {
  let longest = '';
  for (const [name, text] of fields)
    if (text.length > longest.length && !otherKey.test(name) && isProse(text)) longest = text;
  return longest;
};

/** Returns the names of the keys, in one order and without their numbers. */
const describeShape = (fields: readonly KeyValue[]): string =>
  `{${fields
    .map(([name]) => name.replace(/\d+/g, '0'))
    .sort()
    .join(',')
    .slice(0, maxShapeLength)}}`;

/**
 * Returns the first line of a message without recognized values: `<*>` replaces numbers, ids, addresses, paths and
 * quoted text. Words in ids remain (`order-<*>`), and so do numbers of statuses and error codes. Of a JSON or logfmt
 * body, the message and the error next to it count; if it has no message, its keys and its longest text.
 */
export const maskMessage = (message: string): string => {
  const maskedText = maskText(message);
  if (tokens.form === 'text') return maskedText;
  const { message: messageKey } = tokens;
  if (messageKey !== '' && !mayHaveError.test(message)) return maskedText;
  const { fields } = tokens;
  if (messageKey === '') return `${describeShape(fields)} ${maskText(findLongestText(fields))}`.trim();
  const errors = [...new Set(fields.filter(([name]) => errorKey.test(name)).map(([, text]) => maskText(text)))];
  return [maskedText, ...errors.filter((text) => /\p{L}/u.test(text) && text !== maskedText).sort()]
    .join(' | ')
    .slice(0, maxMessageLength);
};
