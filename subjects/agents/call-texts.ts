/** Texts of the input of a tool call, by which effects are compared with it. */
import { isFields } from '../../runtime/fields.ts';
import type { AgentToolCall } from '../../schemas/agent-events.ts';
import { truncateText } from '../../schemas/text.ts';
import { isShell } from './mentions.ts';

const maxTextLength = 4_096;
const maxDepth = 6;

const commandNames = new Set(['command', 'cmd', 'script', 'commands', 'code', 'shell_command']);
const commandTools =
  /^(?:bash|shell|local_shell|exec|execute|terminal|run|command|run_shell_command|execute_command|container\.exec)$/i;

interface CallTexts {
  readonly text: string;
  /** Whether the call runs a command. */
  readonly isCommand: boolean;
}

/** Returns the script of a shell that is started with one, such as `bash -lc 'npm test'`. */
const readScript = (words: readonly string[]): string | undefined =>
  isShell(words[0] ?? '') && /^-[a-z]{0,4}c$/.test(words[1] ?? '') ? words[2] : undefined;

/** Adds the texts of a value. A list of texts is the arguments of one command. */
const collectTexts = (value: unknown, texts: string[], depth = 0): void => {
  if (typeof value === 'string') texts.push(value);
  else if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    texts.push(value.join(' '));
    // The commands of a script begin at its start.
    const script = readScript(value);
    if (script !== undefined) texts.push(script);
  } else if (typeof value === 'object' && value !== null && depth < maxDepth)
    for (const item of Object.values(value)) collectTexts(item, texts, depth + 1);
};

/** Returns whether an object has a command, at its top or in an object of it. */
const hasCommand = (value: unknown, depth = 0): boolean =>
  isFields(value) &&
  Object.entries(value).some(
    ([key, item]) => (commandNames.has(key) && item !== '') || (depth === 0 && hasCommand(item, depth + 1)),
  );

const parseInput = (input: string): unknown => {
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
};

/** Reads the texts of an input, which is JSON or a text. */
export const readCallTexts = ({ name, input }: AgentToolCall): CallTexts => {
  const value = parseInput(input);
  const texts: string[] = [];
  collectTexts(value, texts);
  return {
    text: truncateText(texts.join('\n'), maxTextLength),
    isCommand: commandTools.test(name) || hasCommand(value),
  };
};
