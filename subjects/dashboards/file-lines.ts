/** Line numbers of problems in the text of a file. */
import { parseYaml, YamlError } from '../../queries/yaml.ts';
import { type DashboardFile, type FileProblem, parseDashboardValue } from './as-code.ts';

/** A problem of a file, with its line. */
export interface ProblemWithLine extends FileProblem {
  readonly line: number;
}

/** Parses a dashboard and its ID from the text of a file, or returns its problems with their lines. */
export const parseFileWithLines = (
  text: string,
): (DashboardFile & { readonly id: string }) | { readonly problems: readonly ProblemWithLine[] } => {
  try {
    const yaml = parseYaml(text);
    const parsed = parseDashboardValue(yaml.value());
    if ('problems' in parsed)
      return {
        problems: parsed.problems.map((problem) => ({
          ...problem,
          line: yaml.getPathLine(problem.path === '' ? [] : problem.path.split('.')),
        })),
      };
    const { id } = parsed;
    return id === undefined
      ? { problems: [{ path: 'id', message: 'is missing: a dashboard managed as code needs an id', line: 1 }] }
      : { ...parsed, id };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problems: [{ path: '', message: error.message, line: error.line }] };
  }
};
