import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Options and positionals of a command's arguments; `UsageError` with the help for one that it does not know. */
export const argumentsOf = <Known extends Options>(args: readonly string[], options: Known, help: string) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${help}`);
  }
};
