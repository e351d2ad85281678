/** Loaded before the code of a program (`--import`), in each process and thread: replaces a text in one source file. */
import { registerHooks } from 'node:module';

/** The environment variable with the replacement, as JSON. */
export const sourceReplacement = 'TEST_WITHOUT_FENCE';

export interface Exchange {
  /** The URL of the source file. */
  readonly url: string;
  readonly original: string;
  readonly replacement: string;
}

const exchangeText = process.env[sourceReplacement];
if (exchangeText !== undefined) {
  const { url, original, replacement } = JSON.parse(exchangeText) as Exchange;
  registerHooks({
    load(loaded, context, next) {
      const module = next(loaded, context);
      return loaded === url
        ? { ...module, source: String(module.source).replace(original, () => replacement) }
        : module;
    },
  });
}
