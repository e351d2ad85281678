/** Bodies of log records of Faro, which the collector writes as logfmt: `kind=event event_name=click session_id=1`. */

const maxFields = 512;
const firstKey = 'timestamp=';

/** Returns whether a body is one of Faro. */
export const isFaroBody = (body: string): boolean => body.startsWith(firstKey);

/** Returns the end of a quoted value that begins at `start`, behind its closing quote. */
const findQuoteEnd = (text: string, start: number): number => {
  for (let index = start + 1; index < text.length; index++) {
    const character = text[index];
    if (character === '\\') index++;
    else if (character === '"') return index + 1;
  }
  return text.length;
};

const unquote = (text: string): string => {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, text.endsWith('"') ? -1 : undefined);
  }
};

/** Adds the fields of a body to a map, where the map has none with the same name. */
export const addFaroFields = (body: string, fields: Map<string, string>): void => {
  let index = 0;
  for (let count = 0; count < maxFields && index < body.length; count++) {
    const equals = body.indexOf('=', index);
    if (equals < 0) return;
    const key = body.slice(index, equals).trim();
    const start = equals + 1;
    const isQuoted = body[start] === '"';
    const space = body.indexOf(' ', start);
    const end = isQuoted ? findQuoteEnd(body, start) : space < 0 ? body.length : space;
    const value = body.slice(start, end);
    if (!fields.has(key)) fields.set(key, isQuoted ? unquote(value) : value);
    index = end + 1;
  }
};
