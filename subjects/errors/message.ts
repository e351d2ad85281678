/** Messages without the parts that differ between occurrences */
import { Tokens } from '../../queries/log-patterns/tokens.ts';

const tokens = new Tokens();
const maxMessageLength = 1_000;

/**
 * Returns the first line of a message, with `<*>` for every recognized value: numbers, ids, addresses, paths, quoted
 * text.
 */
export const maskMessage = (message: string): string => {
  tokens.read(message.trimStart());
  return tokens.maskVariables('<*>').trim().slice(0, maxMessageLength);
};
