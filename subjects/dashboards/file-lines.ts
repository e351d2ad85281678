/** Where in the text of a file something stands. */
import { readYaml, YamlError } from '../../queries/yaml.ts';
import { type DashboardFile, type FileProblem, readDocumentValue } from './as-code.ts';

/** What is wrong with a file, and in which line. */
export interface PlacedProblem extends FileProblem {
  readonly line: number;
}

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
          line: yaml.lineAt(problem.path === '' ? [] : problem.path.split('.')),
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
