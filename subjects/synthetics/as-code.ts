/**
 * Checks as YAML, one document per check, without default values. Parsing the result returns the same checks.
 * Recordings can also be parsed.
 */
import { isDeepStrictEqual } from 'node:util';
import { runInWorker } from '../../queries/worker.ts';
import { parseYaml, YamlError } from '../../queries/yaml.ts';
import { splitDocuments } from '../../queries/yaml-documents.ts';
import { writeYaml } from '../../queries/yaml-writing.ts';
import type { Problem } from './assertions.ts';
import { CheckFields, localLocation, toStoredCheck } from './check.ts';
import { type BlackboxContext, findBlackboxModules, readOtherFormat } from './other-formats.ts';
import type { OtherMonitor } from './other-monitor.ts';
import { isRecording, readRecording } from './recording.ts';
import { HttpStep, http as httpType } from './types/http.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Returns fields that differ from their defaults. */
const omitDefaults = (values: Fields, defaults: Fields): Fields =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(value, defaults[name])));

const defaultCheck: Fields = CheckFields.parse({ name: 'x', type: 'http' });
const defaultStep: Fields = HttpStep.parse({ url: 'x' });
const defaultHttp: Fields = { ...httpType.settings.parse({ steps: [{ url: 'x' }] }), steps: [] };
/** Required fields of a check */
const requiredFields = ['name', 'type'] as const;

/** Returns a check as YAML. `nameOf` returns the name of a location, by which another installation finds it. */
export const writeCheckYaml = (check: CheckFields, getLocationName: (location: string) => string): string => {
  const { locations, http, ...fields } = CheckFields.partial().strip().parse(check);
  const locationNames = (locations ?? []).map(getLocationName);
  return writeYaml(
    {
      ...Object.fromEntries(requiredFields.map((name) => [name, check[name]])),
      ...omitDefaults(
        Object.fromEntries(
          Object.entries(fields).filter(([name]) => !(requiredFields as readonly string[]).includes(name)),
        ),
        defaultCheck,
      ),
      // A check that nobody runs has no locations, so the field is omitted.
      ...(locationNames.length > 0 &&
        !isDeepStrictEqual(locationNames, [localLocation]) && { locations: locationNames }),
      ...(http !== undefined && {
        http: {
          ...omitDefaults({ ...http, steps: [] }, defaultHttp),
          steps: http.steps.map((step) => ({ url: step.url, ...omitDefaults(step, defaultStep) })),
        },
      }),
    },
    { lineWidth: 0 },
  );
};

type LineProblem = Problem & { readonly line: number };

/** A document of a text: a parsed check, or its problems with their lines */
export interface ParsedCheckFile {
  /** Number of the document in the text, from 1 */
  readonly document: number;
  readonly line: number;
  /** Name; `null` if it could not be parsed */
  readonly name: string | null;
  readonly check?: CheckFields;
  readonly problems: readonly LineProblem[];
  /** Details of a recording, which only contains browser actions */
  readonly recording?: {
    /** Parts that are not imported */
    readonly losses: readonly LineProblem[];
    readonly isComplete: boolean;
  };
  /** Lines of the existing fields, by path */
  readonly lines: Readonly<Record<string, number>>;
}

/** Returns the paths of all parts of a value. */
const listPaths = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [path, ...Object.entries(value).flatMap(([name, inner]) => listPaths(inner, [...path, name]))];

/** Maximum number of paths of a document, each with a line */
const maxPaths = 5000;

type GetLine = (path: string) => number;

const addLines = (problems: readonly Problem[], getLine: GetLine): LineProblem[] =>
  problems.map((problem) => ({ ...problem, line: getLine(problem.path) }));

/** Timeout of a recorded check, whose steps take longer in total than hand-written ones */
const recordedTimeout = '30s';

/** Converts a recording to a check; problems of a step have the line of the recorded action. */
const readRecordedCheck = (
  value: unknown,
  checkHeader: Omit<ParsedCheckFile, 'problems' | 'lines'>,
  getLine: GetLine,
): ParsedCheckFile => {
  const recording = readRecording(value);
  if (!('browser' in recording)) return { ...checkHeader, lines: {}, problems: addLines(recording, getLine) };
  const { name, browser, origins, losses, isWhole: isComplete } = recording;
  const lines = Object.fromEntries(origins.map((at, index) => [`browser.steps.${index}`, getLine(`steps.${at}`)]));
  const file = { ...checkHeader, name, lines, recording: { losses: addLines(losses, getLine), isComplete } };
  const { data, error } = CheckFields.safeParse({ name, type: 'browser', timeout: recordedTimeout, browser });
  if (data !== undefined) return { ...file, check: data, problems: [] };
  return { ...file, problems: addLines(toProblems(error), () => checkHeader.line) };
};

const toProblems = (error: NonNullable<ReturnType<typeof CheckFields.safeParse>['error']>): Problem[] =>
  error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a known field' }));
  });

/** Converts the monitors of another format; each is rejected or imported for itself. */
const readMonitors = (
  monitors: readonly OtherMonitor[],
  document: number,
  getLine: GetLine,
): readonly ParsedCheckFile[] =>
  monitors.map(({ path, name, fields, problems }) => {
    const line = getLine(path);
    const header = { document, line, name: name?.slice(0, 256) ?? null, lines: {} };
    if (problems.length > 0) return { ...header, problems: addLines(problems, getLine) };
    const { data, error } = CheckFields.safeParse({ ...fields, name });
    return data === undefined
      ? { ...header, problems: addLines(toProblems(error), () => line) }
      : { ...header, check: toStoredCheck(data), problems: [] };
  });

const readDocument = (
  { text, line: firstLine }: { text: string; line: number },
  document: number,
  blackbox: BlackboxContext,
): readonly ParsedCheckFile[] => {
  try {
    const yaml = parseYaml(text);
    const value = yaml.value();
    const name = (value as { name?: unknown } | null)?.name;
    const checkHeader = { document, line: firstLine, name: typeof name === 'string' ? name.slice(0, 256) : null };
    const toPathSegments = (path: string): PropertyKey[] =>
      path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    const getLine = (path: string): number => firstLine - 1 + yaml.getPathLine(path === '' ? [] : toPathSegments(path));
    const unknownTags = yaml.unknownTags.map(({ tag, line }) => ({
      path: '',
      line: firstLine - 1 + line,
      message: `has the unknown tag ${tag.slice(0, 200)}`,
    }));
    if (unknownTags.length > 0) return [{ ...checkHeader, lines: {}, problems: unknownTags }];
    if (isRecording(value)) return [readRecordedCheck(value, checkHeader, getLine)];
    const monitors = readOtherFormat(value, blackbox);
    if (monitors !== undefined) return readMonitors(monitors, document, getLine);
    if (Array.isArray(value))
      return [
        {
          ...checkHeader,
          lines: {},
          problems: [{ path: '', line: firstLine, message: 'is a list: write one document for each check' }],
        },
      ];
    const { data, error } = CheckFields.safeParse(value);
    if (data === undefined) return [{ ...checkHeader, lines: {}, problems: addLines(toProblems(error), getLine) }];
    const paths = listPaths(value)
      .slice(0, maxPaths)
      .map((path) => path.join('.'));
    return [
      {
        ...checkHeader,
        check: toStoredCheck(data),
        problems: [],
        lines: Object.fromEntries(paths.map((path) => [path, getLine(path)])),
      },
    ];
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const line = firstLine - 1 + error.line;
    return [{ document, line, name: null, lines: {}, problems: [{ path: '', message: error.message, line }] }];
  }
};

/** Returns the value of a document that may have modules or targets of Blackbox exporter. */
const readBlackboxValue = ({ text }: { readonly text: string }): unknown => {
  if (!/^(?:modules|scrape_configs|spec):/m.test(text)) return undefined;
  try {
    return parseYaml(text).value();
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    // The document reports its error itself.
    return undefined;
  }
};

/** Returns the checks of a text, document by document. */
export const readCheckFiles = (text: string): readonly ParsedCheckFile[] => {
  const documents = splitDocuments(text);
  const blackbox = findBlackboxModules(documents.map(readBlackboxValue));
  return documents.flatMap((document, index) => readDocument(document, index + 1, blackbox));
};

export const readCheckFilesInWorker = runInWorker(import.meta.url, readCheckFiles);

/** Returns the line of a field, or of the innermost existing parent. */
export const findFieldLine = ({ lines, line }: ParsedCheckFile, path: string): number => {
  for (let at = path; at !== ''; at = at.includes('.') ? at.slice(0, at.lastIndexOf('.')) : '')
    if (Object.hasOwn(lines, at)) return lines[at] ?? line;
  return line;
};
