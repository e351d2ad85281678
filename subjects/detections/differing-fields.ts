import { isDeepStrictEqual } from 'node:util';
import { runInWorker } from '../../queries/worker.ts';
import { parseYaml } from '../../queries/yaml.ts';

/** Returns the top-level fields in which two documents differ. */
export const findDifferingFields = (before: string, after: string): string[] => {
  const [beforeFields, afterFields] = [before, after].map(
    (source) => (parseYaml(source).value() ?? {}) as Record<string, unknown>,
  );
  return [...new Set([...Object.keys(beforeFields ?? {}), ...Object.keys(afterFields ?? {})])].filter(
    (name) => !isDeepStrictEqual(beforeFields?.[name], afterFields?.[name]),
  );
};

/** Like `findDifferingFields`; long documents are parsed in a worker. */
export const findDifferingFieldsInWorker = runInWorker(import.meta.url, findDifferingFields);
