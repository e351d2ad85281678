/** Encoding of template values by the place in which a text contains them */

/** Returns a value as the text around the template needs it. `before` and `after` are the written texts. */
export type EncodeValue = (value: string, before: string, after: string) => string;

/** Percent-encodes all but unreserved characters (RFC 3986, 2.3). */
const percentEncode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const fillTemplates = (text: string, filler: string): string => text.replace(/\{\{[^{}]*\}\}/g, filler);

/**
 * In a URL: as it is at the beginning and in the authority, which may be the whole URL, a base or a link, and as a whole
 * query; percent-encoded in paths, where slashes stay, and in parts of queries.
 */
export const encodeInUrl: EncodeValue = (value, before, after) => {
  const prefix = fillTemplates(before, 'x');
  if (/^(?:x*|[a-z]+:\/\/[^/?#]*)$/i.test(prefix) || prefix.includes('#')) return value;
  const query = prefix.indexOf('?');
  if (query < 0) return percentEncode(value).replaceAll('%2F', '/');
  const isWholeQuery = query === prefix.length - 1 && (after === '' || after.startsWith('#'));
  return isWholeQuery ? value : percentEncode(value);
};

/** Whether a text is within a string at the end of the beginning of a JSON text */
const isInString = (json: string): boolean => {
  let isInside = false;
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') isInside = !isInside;
    else if (isInside && json[at] === '\\') at++;
  }
  return isInside;
};

/** In strings of JSON: with its escapes; elsewhere as it is, such as a number or an object. */
const encodeInJson: EncodeValue = (value, before) =>
  isInString(before) ? JSON.stringify(value.toWellFormed()).slice(1, -1) : value;

/** In a form: encoded, unless it is the whole form. */
const encodeInForm: EncodeValue = (value, before, after) =>
  before === '' && after === '' ? value : new URLSearchParams([['', value]]).toString().slice(1);

const xmlReferences: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** In XML: with references of its characters, also where a text could have elements; in CDATA as it is. */
const encodeInXml: EncodeValue = (value, before, after) => {
  if (before.trim() === '' && after.trim() === '') return value;
  const isInCdata = before.lastIndexOf('<![CDATA[') > before.lastIndexOf(']]>');
  return isInCdata
    ? value.replaceAll(']]>', ']]]]><![CDATA[>')
    : value.replace(/[&<>"']/g, (character) => xmlReferences[character] ?? character);
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(fillTemplates(text, '0'));
    return true;
  } catch {
    return false;
  }
};

/** Returns the encoding of values in a body or a message, as written. */
export const bodyEncoding = (text: string, contentType: string): EncodeValue => {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return encodeInForm;
  if (/^(?:text|application)\/(?:[\w.-]{1,100}\+)?xml\b/i.test(contentType) || /^\s*<\?xml\s/.test(text))
    return encodeInXml;
  return /^\s*[[{"]/.test(text) && isJson(text) ? encodeInJson : (value) => value;
};
