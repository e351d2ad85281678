/** Loaded before a program's own code (`--import`), in each of its processes and threads: a text of one file is another one there. */
import { registerHooks } from 'node:module';

/** The environment's variable that says which, as JSON. */
export const sourceReplacement = 'TEST_WITHOUT_FENCE';

export interface Exchange {
  /** Of the file. */
  readonly url: string;
  readonly fence: string;
  readonly gone: string;
}

const exchangeText = process.env[sourceReplacement];
if (exchangeText !== undefined) {
  const { url, fence: original, gone: replacement } = JSON.parse(exchangeText) as Exchange;
  registerHooks({
    load(loaded, context, next) {
      const module = next(loaded, context);
      return loaded === url
        ? { ...module, source: String(module.source).replace(original, () => replacement) }
        : module;
    },
  });
}
