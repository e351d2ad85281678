/** Finds email addresses, and credentials in URLs, by scanning the text: its time is proportional to the length. */

/** The text in place of an email address. */
const redactedEmail = '[email]';
const maxLocalLength = 64;
const maxDomainLength = 253;
const maxCredentialsLength = 512;
const atSign = '@';
const encodedAtSign = '%40';

const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(character);
const isLocalCharacter = (character: string): boolean => '._%+-'.includes(character) || isWordCharacter(character);
const isDomainCharacter = (character: string): boolean => '.-'.includes(character) || isWordCharacter(character);

/** Returns the first position of the characters before `end`; `end` if there is none. */
const findStart = (text: string, end: number, min: number): number => {
  let start = end;
  while (start > min && end - start < maxLocalLength && isLocalCharacter(text.charAt(start - 1))) start--;
  return start;
};

/** Returns the end of the domain at `start`; `start` if there is none: at least two labels, the last of two letters or more. */
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

/** Removes users and passwords from URLs. */
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
