import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

const orUsage = <Parsed>(parse: () => Parsed, help: string): Parsed => {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${help}`);
  }
};

/** Parses options and positionals of a command; throws `UsageError` with the help for an unknown option. */
export const argumentsOf = <Known extends Options>(args: readonly string[], options: Known, help: string) =>
  orUsage(() => parseArgs({ args: [...args], options, allowPositionals: true }), help);

/** Like `argumentsOf`, for a command without positionals. */
export const optionsOf = <Known extends Options>(args: readonly string[], options: Known, help: string) =>
  orUsage(() => parseArgs({ args: [...args], options }).values, help);

/** Parses options, and positionals that are URLs. */
export const optionsAndUrls = <Known extends Options>(args: readonly string[], options: Known, help: string) => {
  const { values, positionals } = argumentsOf(args, options, help);
  const wrong = positionals.find((text) => !URL.canParse(text));
  if (wrong !== undefined) throw new UsageError(`${wrong} is not a URL\n\n${help}`);
  return { values, urls: positionals.map((text) => new URL(text)) };
};
