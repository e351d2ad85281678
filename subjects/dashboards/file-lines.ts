/** Where in the text of a file something stands. */
import { isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import { readYaml, YamlError } from '../../queries/yaml.ts';
import { type DashboardFile, type FileProblem, readDocumentValue } from './as-code.ts';

/** What is wrong with a file, and in which line. */
export interface PlacedProblem extends FileProblem {
  readonly line: number;
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** Where the innermost part on the path begins that there is: its name, where it has one. */
const offsetAt = (contents: Node | null, path: readonly string[]): number => {
  let at: unknown = contents;
  let offset = offsetOf(contents);
  for (const name of path) {
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && String(key.value) === name);
      if (pair === undefined) break;
      offset = offsetOf(pair.key);
      at = pair.value;
    } else if (isSeq(at) && at.items[Number(name)] !== undefined) {
      at = at.items[Number(name)];
      offset = offsetOf(at);
    } else break;
  }
  return offset;
};

/** A dashboard of the text of a file with its id, or what is wrong with it and where. */
export const readPlacedFile = (
  text: string,
): (DashboardFile & { readonly id: string }) | { readonly problems: readonly PlacedProblem[] } => {
  try {
    const yaml = readYaml(text);
    const read = readDocumentValue(yaml.value());
    if ('problems' in read)
      return {
        problems: read.problems.map((problem) => ({
          ...problem,
          line: yaml.line(offsetAt(yaml.contents, problem.path === '' ? [] : problem.path.split('.'))),
        })),
      };
    const { id } = read;
    return id === undefined
      ? { problems: [{ path: 'id', message: 'is missing: a dashboard that is kept as code has an id', line: 1 }] }
      : { ...read, id };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problems: [{ path: '', message: error.message, line: error.line }] };
  }
};
