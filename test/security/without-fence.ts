/** Loaded before a program's own code (`--import`), in each of its processes and threads: a text of one file is another one there. */
import { registerHooks } from 'node:module';

/** The environment's variable that says which, as JSON. */
export const withoutFence = 'TEST_WITHOUT_FENCE';

export interface Exchange {
  /** Of the file. */
  readonly url: string;
  readonly fence: string;
  readonly gone: string;
}

const told = process.env[withoutFence];
if (told !== undefined) {
  const { url, fence, gone } = JSON.parse(told) as Exchange;
  registerHooks({
    load(loaded, context, next) {
      const module = next(loaded, context);
      return loaded === url ? { ...module, source: String(module.source).replace(fence, () => gone) } : module;
    },
  });
}
