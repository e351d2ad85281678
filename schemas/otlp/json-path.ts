/** Computes the path of an error in a JSON text, for people. It costs nothing until an error occurs. */
import { PermanentError } from '../errors.ts';
import { JsonReader } from './json-reader.ts';

/** Maximum length of a path, and of a name in the path, before truncation. */
const maxPathLength = 300;
const maxNameLength = 64;

type PathSegment = string | number;

/** Updates the steps for a byte outside of strings. */
const advanceSteps = (segments: PathSegment[], byte: number, name: string): void => {
  const last = segments.at(-1);
  switch (String.fromCharCode(byte)) {
    case '{':
      segments.push('');
      break;
    case '[':
      segments.push(0);
      break;
    case '}':
    case ']':
      segments.pop();
      break;
    case ':':
      segments[segments.length - 1] = name;
      break;
    case ',':
      segments[segments.length - 1] = typeof last === 'number' ? last + 1 : '';
      break;
  }
};

const collectSteps = (text: Buffer, position: number): PathSegment[] => {
  const reader = new JsonReader(text);
  const segments: PathSegment[] = [];
  let name = '';
  for (let byte = reader.peek(); byte >= 0 && reader.position < position; byte = reader.peek()) {
    if (byte !== 0x22) {
      advanceSteps(segments, byte, name);
      reader.position++;
      continue;
    }
    try {
      reader.readString();
    } catch (error) {
      // The faulty string is the value of the last step.
      if (error instanceof PermanentError) return segments;
      throw error;
    }
    if (reader.peek() === 0x3a) name = reader.readUnescaped();
  }
  return segments;
};

/**
 * Returns the path from the root to the value at `position`: `resourceLogs[0].scopeLogs[2]`. The text before it must be
 * valid.
 */
export const findPath = (text: Buffer, position: number): string => {
  const path = collectSteps(text, position)
    .map((step) => (typeof step === 'number' ? `[${step}]` : step && `.${step.slice(0, maxNameLength)}`))
    .join('')
    .replace(/^\./, '');
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
};
