/** Where in a JSON text a fault lies, for people. Costs nothing until there is a fault. */
import { PermanentError } from '../errors.ts';
import { JsonReader } from './json-reader.ts';

/** Longest path and longest name that are given in full. */
const maxPathLength = 300;
const maxNameLength = 64;

type Step = string | number;

/** What a byte outside of strings does to the steps. */
const advance = (steps: Step[], byte: number, name: string): void => {
  const last = steps.at(-1);
  switch (String.fromCharCode(byte)) {
    case '{':
      steps.push('');
      break;
    case '[':
      steps.push(0);
      break;
    case '}':
    case ']':
      steps.pop();
      break;
    case ':':
      steps[steps.length - 1] = name;
      break;
    case ',':
      steps[steps.length - 1] = typeof last === 'number' ? last + 1 : '';
      break;
  }
};

const stepsTo = (text: Buffer, position: number): Step[] => {
  const reader = new JsonReader(text);
  const steps: Step[] = [];
  let name = '';
  for (let byte = reader.peek(); byte >= 0 && reader.position < position; byte = reader.peek()) {
    if (byte !== 0x22) {
      advance(steps, byte, name);
      reader.position++;
      continue;
    }
    try {
      reader.string();
    } catch (fault) {
      // The string that is faulty itself is the last step's value.
      if (fault instanceof PermanentError) return steps;
      throw fault;
    }
    if (reader.peek() === 0x3a) name = reader.unescaped();
  }
  return steps;
};

/** Steps from the root to the value in which `position` lies: `resourceLogs[0].scopeLogs[2]`. The text up to there is valid. */
export const pathAt = (text: Buffer, position: number): string => {
  const path = stepsTo(text, position)
    .map((step) => (typeof step === 'number' ? `[${step}]` : step && `.${step.slice(0, maxNameLength)}`))
    .join('')
    .replace(/^\./, '');
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
};
