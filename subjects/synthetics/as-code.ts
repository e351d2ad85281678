/** Checks as YAML: one document a check, what is as usual left out. Read again, they are the same. Recordings are read as well. */
import { isDeepStrictEqual } from 'node:util';
import { inWorker } from '../../queries/worker.ts';
import { readYaml, YamlError } from '../../queries/yaml.ts';
import { splitDocuments } from '../../queries/yaml-documents.ts';
import { writeYaml } from '../../queries/yaml-writing.ts';
import type { Problem } from './assertions.ts';
import { CheckFields, localLocation, settled } from './check.ts';
import { isRecording, readRecording } from './recording.ts';
import { HttpStep } from './types/http.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that differ from what they are when they are left out. */
const withoutDefaults = (given: Fields, defaults: Fields): Fields =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isDeepStrictEqual(value, defaults[name])));

const defaultCheck: Fields = CheckFields.parse({ name: 'x', type: 'http' });
const defaultStep: Fields = HttpStep.parse({ url: 'x' });
/** Fields that a check is not read without. */
const always = ['name', 'type'] as const;

/** A check as YAML. `nameOf` gives the name of a location, by which it is found again elsewhere. */
export const writeCheck = (check: CheckFields, nameOf: (location: string) => string): string => {
  const { locations, http, ...fields } = CheckFields.partial().strip().parse(check);
  const named = (locations ?? []).map(nameOf);
  return writeYaml(
    {
      ...Object.fromEntries(always.map((name) => [name, check[name]])),
      ...withoutDefaults(
        Object.fromEntries(Object.entries(fields).filter(([name]) => !(always as readonly string[]).includes(name))),
        defaultCheck,
      ),
      // What nobody runs has none, and need not say so.
      ...(named.length > 0 && !isDeepStrictEqual(named, [localLocation]) && { locations: named }),
      ...(http !== undefined && {
        http: { steps: http.steps.map((step) => ({ url: step.url, ...withoutDefaults(step, defaultStep) })) },
      }),
    },
    { lineWidth: 0 },
  );
};

type LineProblem = Problem & { readonly line: number };

/** A document of a text: a check in its form, or what is wrong, each with its line. */
export interface ReadCheckFile {
  /** From 1. */
  readonly document: number;
  readonly line: number;
  /** Null where it could not be read. */
  readonly name: string | null;
  readonly check?: CheckFields;
  readonly problems: readonly LineProblem[];
  /** Of a recording. It says what is done in a browser, and nothing else of the check. */
  readonly recording?: {
    /** What of it is not carried. */
    readonly losses: readonly LineProblem[];
    readonly isComplete: boolean;
  };
  /** Lines of the fields that there are, by path. */
  readonly lines: Readonly<Record<string, number>>;
}

/** Paths of all parts of a value. */
const pathsIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [path, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...path, name]))];

/** Of a document: each path has a line that is told. */
const maxPaths = 5000;

type LineOf = (path: string) => number;

const withLines = (problems: readonly Problem[], lineOf: LineOf): LineProblem[] =>
  problems.map((problem) => ({ ...problem, line: lineOf(problem.path) }));

/** All steps of a recording take longer than those that people write. */
const recordedTimeout = '30s';

/** A recording as a check; what is wrong with a step has the line of what was recorded. */
const readRecorded = (
  value: unknown,
  checkHeader: Omit<ReadCheckFile, 'problems' | 'lines'>,
  lineOf: LineOf,
): ReadCheckFile => {
  const read = readRecording(value);
  if (!('browser' in read)) return { ...checkHeader, lines: {}, problems: withLines(read, lineOf) };
  const { name, browser, origins, losses, isWhole: isComplete } = read;
  const lines = Object.fromEntries(origins.map((at, index) => [`browser.steps.${index}`, lineOf(`steps.${at}`)]));
  const file = { ...checkHeader, name, lines, recording: { losses: withLines(losses, lineOf), isComplete } };
  const { data, error } = CheckFields.safeParse({ name, type: 'browser', timeout: recordedTimeout, browser });
  if (data !== undefined) return { ...file, check: data, problems: [] };
  return { ...file, problems: withLines(problemsOf(error), () => checkHeader.line) };
};

const problemsOf = (error: NonNullable<ReturnType<typeof CheckFields.safeParse>['error']>): Problem[] =>
  error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a known field' }));
  });

const readDocument = ({ text, line: first }: { text: string; line: number }, document: number): ReadCheckFile => {
  try {
    const yaml = readYaml(text);
    const value = yaml.value();
    const name = (value as { name?: unknown } | null)?.name;
    const checkHeader = { document, line: first, name: typeof name === 'string' ? name.slice(0, 256) : null };
    const segments = (path: string): PropertyKey[] =>
      path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    const lineOf = (path: string): number => first - 1 + yaml.lineAt(path === '' ? [] : segments(path));
    if (isRecording(value)) return readRecorded(value, checkHeader, lineOf);
    const { data, error } = CheckFields.safeParse(value);
    if (data === undefined) return { ...checkHeader, lines: {}, problems: withLines(problemsOf(error), lineOf) };
    const paths = pathsIn(value)
      .slice(0, maxPaths)
      .map((path) => path.join('.'));
    return {
      ...checkHeader,
      check: settled(data),
      problems: [],
      lines: Object.fromEntries(paths.map((path) => [path, lineOf(path)])),
    };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const line = first - 1 + error.line;
    return { document, line, name: null, lines: {}, problems: [{ path: '', message: error.message, line }] };
  }
};

/** The checks of a text, document by document. */
export const readCheckFiles = (text: string): readonly ReadCheckFile[] =>
  splitDocuments(text).map((document, index) => readDocument(document, index + 1));

export const readCheckFilesInWorker = inWorker(import.meta.url, readCheckFiles);

/** The line of a field, or of the innermost part around it that there is. */
export const lineOfField = ({ lines, line }: ReadCheckFile, path: string): number => {
  for (let at = path; at !== ''; at = at.includes('.') ? at.slice(0, at.lastIndexOf('.')) : '')
    if (Object.hasOwn(lines, at)) return lines[at] ?? line;
  return line;
};
