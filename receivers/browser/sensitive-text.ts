/** Finds email addresses and parts of URLs by scanning, in time proportional to the length of the text. */

/** Replacement for an email address. */
const redactedEmail = '[email]';
const maxLocalLength = 64;
const maxDomainLength = 253;
const maxCredentialsLength = 512;
const atSign = '@';
const encodedAtSign = '%40';

const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(character);
const isLocalCharacter = (character: string): boolean => '._%+-'.includes(character) || isWordCharacter(character);
const isDomainCharacter = (character: string): boolean => '.-'.includes(character) || isWordCharacter(character);

/** Returns the first position of one of the characters before `end`; `end` if there is none. */
const findStart = (text: string, end: number, min: number): number => {
  let start = end;
  while (start > min && end - start < maxLocalLength && isLocalCharacter(text.charAt(start - 1))) start--;
  return start;
};

/**
 * Returns the end of the domain at `start`; `start` if there is no domain with two labels and a top-level domain of
 * two letters or more.
 */
const findDomainEnd = (text: string, start: number): number => {
  let end = start;
  while (end < text.length && end - start < maxDomainLength && isDomainCharacter(text.charAt(end))) end++;
  while (end > start && '.-'.includes(text.charAt(end - 1))) end--;
  const labels = text.slice(start, end).split('.');
  const lastLabel = labels.at(-1) ?? '';
  return labels.length > 1 && !labels.includes('') && lastLabel.length > 1 && !/^\d+$/.test(lastLabel) ? end : start;
};

const replaceEmailsAround = (text: string, separator: string): string => {
  let replaced = '';
  let copied = 0;
  for (
    let at = text.indexOf(separator);
    at >= 0;
    at = text.indexOf(separator, Math.max(copied, at + separator.length))
  ) {
    const domainStart = at + separator.length;
    const start = findStart(text, at, copied);
    const end = start === at ? domainStart : findDomainEnd(text, domainStart);
    if (end === domainStart) continue;
    replaced += text.slice(copied, start) + redactedEmail;
    copied = end;
  }
  return replaced + text.slice(copied);
};

/** Replaces email addresses, also those with an encoded `@`. */
export const replaceEmails = (text: string): string => {
  const replaced = text.includes(atSign) ? replaceEmailsAround(text, atSign) : text;
  return replaced.includes(encodedAtSign) ? replaceEmailsAround(replaced, encodedAtSign) : replaced;
};

/** Removes user names and passwords from URLs. */
export const removeCredentials = (text: string): string => {
  if (!text.includes(atSign)) return text;
  let rest = '';
  let copied = 0;
  for (let scheme = text.indexOf('://'); scheme >= 0; scheme = text.indexOf('://', copied)) {
    const start = scheme + 3;
    let end = start;
    let credentialsEnd = start;
    while (end < text.length && end - start <= maxCredentialsLength && !/[\s/?#"'<>\\]/.test(text.charAt(end))) {
      end++;
      if (text.charAt(end - 1) === atSign) credentialsEnd = end;
    }
    rest += text.slice(copied, start);
    copied = Math.max(start, credentialsEnd);
  }
  return rest + text.slice(copied);
};

const maxParameterNameLength = 256;
const isQueryEnd = (character: string): boolean => /[\s"'<>\\^`|#]/.test(character);
const isFragmentEnd = (character: string): boolean => /[\s"'<>\\^`|]/.test(character);
const isDigit = (character: string): boolean => character >= '0' && character <= '9';

/**
 * Returns whether a `?` begins a query string (a name followed by `=` or `&`), and the position where that was
 * decided.
 */
const readQueryStart = (text: string, mark: number): { readonly isQuery: boolean; readonly end: number } => {
  for (let end = mark + 1; end < text.length && end <= mark + 1 + maxParameterNameLength; end++) {
    const character = text.charAt(end);
    if (character === '=' || character === '&') return { isQuery: true, end };
    if ('?{}'.includes(character) || isQueryEnd(character)) return { isQuery: false, end };
  }
  return { isQuery: false, end: mark + 1 };
};

/** Returns the position of the line and column of a stack frame, such as `:10:5)`; the length if there are none. */
const findFramePosition = (query: string): number => {
  let start = query.endsWith(')') ? query.length - 1 : query.length;
  for (let count = 0; count < 2; count++) {
    let colon = start - 1;
    while (colon >= 0 && isDigit(query.charAt(colon))) colon--;
    if (colon < 0 || query.charAt(colon) !== ':' || !isDigit(query.charAt(colon + 1))) break;
    start = colon;
  }
  return start;
};

/** Replaces the query strings of URLs and paths by the results of `filter`, without the `?`. */
export const replaceQueries = (text: string, filter: (query: string) => string): string => {
  let replaced = '';
  let copied = 0;
  for (let mark = text.indexOf('?'); mark >= 0; ) {
    let { isQuery, end } = readQueryStart(text, mark);
    if (isQuery) {
      while (end < text.length && !isQueryEnd(text.charAt(end))) end++;
      const query = text.slice(mark + 1, end);
      const position = findFramePosition(query);
      const filtered = filter(query.slice(0, position));
      replaced += `${text.slice(copied, mark)}${filtered === '' ? '' : '?'}${filtered}${query.slice(position)}`;
      copied = end;
    }
    mark = text.indexOf('?', end);
  }
  return replaced + text.slice(copied);
};

/** Removes the fragments of paths, including the `#`. */
export const removeFragments = (text: string): string => {
  let rest = '';
  let copied = 0;
  for (let mark = text.indexOf('#'); mark >= 0; ) {
    let end = mark + 1;
    if (mark > 0 && /[\w/)~-]/.test(text.charAt(mark - 1))) {
      while (end < text.length && !isFragmentEnd(text.charAt(end))) end++;
      rest += text.slice(copied, mark);
      copied = end;
    }
    mark = text.indexOf('#', end);
  }
  return rest + text.slice(copied);
};
