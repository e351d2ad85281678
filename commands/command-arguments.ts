import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

const withUsageError = <Parsed>(parse: () => Parsed, help: string): Parsed => {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${help}`);
  }
};

/** Parses options and positionals of a command; throws `UsageError` with the help for an unknown option. */
export const parseArguments = <CommandOptions extends Options>(
  args: readonly string[],
  options: CommandOptions,
  help: string,
) => withUsageError(() => parseArgs({ args: [...args], options, allowPositionals: true }), help);

/** Like `parseArguments`, for a command without positionals. */
export const parseOptions = <CommandOptions extends Options>(
  args: readonly string[],
  options: CommandOptions,
  help: string,
) => withUsageError(() => parseArgs({ args: [...args], options }).values, help);

/** Parses options, and positionals that are URLs. */
export const parseOptionsAndUrls = <CommandOptions extends Options>(
  args: readonly string[],
  options: CommandOptions,
  help: string,
) => {
  const { values, positionals } = parseArguments(args, options, help);
  const invalidUrl = positionals.find((text) => !URL.canParse(text));
  if (invalidUrl !== undefined) throw new UsageError(`${invalidUrl} is not a URL\n\n${help}`);
  return { values, urls: positionals.map((text) => new URL(text)) };
};
