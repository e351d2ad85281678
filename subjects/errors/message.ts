/** Messages without what differs from one occurrence to the next. */
import { Tokens } from '../log-patterns/tokens.ts';

const tokens = new Tokens();
const maxMessage = 1_000;

/** The first line of a message, with `<*>` for every value that its form shows to be one: numbers, ids, addresses, paths, quoted text. */
export const maskedMessage = (message: string): string => {
  tokens.read(message.trimStart());
  return tokens.masked('<*>').trim().slice(0, maxMessage);
};
