/** Line numbers of problems in the text of a file. */
import { readYaml, YamlError } from '../../queries/yaml.ts';
import { type DashboardFile, type FileProblem, readDocumentValue } from './as-code.ts';

/** A problem of a file, with its line. */
export interface PlacedProblem extends FileProblem {
  readonly line: number;
}

/** Parses a dashboard and its ID from the text of a file, or returns its problems with their lines. */
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
          line: yaml.lineAt(problem.path === '' ? [] : problem.path.split('.')),
        })),
      };
    const { id } = read;
    return id === undefined
      ? { problems: [{ path: 'id', message: 'is missing: a dashboard managed as code needs an id', line: 1 }] }
      : { ...read, id };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problems: [{ path: '', message: error.message, line: error.line }] };
  }
};
