/**
 * Parses the objects of OpenSLO texts, which contain several documents or lists of objects, and records the line of
 * each part
 */
import { parseYaml, YamlError } from '../../../queries/yaml.ts';
import { splitDocuments } from '../../../queries/yaml-documents.ts';
import { isFields, toFields } from '../../../runtime/fields.ts';
import type { SloFields } from '../document.ts';

/** A part of a document that cannot be imported, and its location */
export interface OpenSloProblem {
  /** Number of the document in the text, from 1 */
  readonly document: number;
  readonly line: number;
  /**
   * Path such as `spec.timeWindow.0.duration`; for a list of objects it begins with the index. Empty for the whole
   * object.
   */
  readonly field: string;
  readonly message: string;
}

type Path = readonly PropertyKey[];

/** Where fields are reported, and the line of a path. */
interface FieldSource {
  report(path: Path, message: string): void;
  getLine(path: Path): number;
}

/** Fields of a map with their locations. Fields that were not read before `reportUnread` are reported as unsupported. */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #readKeys = new Set<string>();
  readonly #path: Path;
  readonly #source: FieldSource;

  constructor(values: unknown, path: Path, source: FieldSource) {
    this.#path = path;
    this.#source = source;
    if (!isFields(values)) source.report(path, 'must be a map');
    this.#values = toFields(values);
  }

  get line(): number {
    return this.#source.getLine(this.#path);
  }

  get keys(): string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    return this.#values[key] !== undefined && this.#values[key] !== null;
  }

  fail(key: string, message: string): undefined {
    this.#source.report(key === '' ? this.#path : [...this.#path, key], message);
    return undefined;
  }

  value(key: string): unknown {
    this.#readKeys.add(key);
    return this.has(key) ? this.#values[key] : undefined;
  }

  /** Returns a field of the given kind; reports it if it is missing and `required`. */
  #readTyped<Value>(
    key: string,
    kind: string,
    isValid: (value: unknown) => value is Value,
    required: boolean,
  ): Value | undefined {
    const value = this.value(key);
    if (value === undefined) return required ? this.fail(key, `is required: ${kind}`) : undefined;
    return isValid(value) ? value : this.fail(key, `must be ${kind}`);
  }

  text(key: string, required = true): string | undefined {
    return this.#readTyped(key, 'a text', (value) => typeof value === 'string', required);
  }

  /** Returns a field that is a text, without a report. */
  peekText(key: string): string | undefined {
    const value = this.#values[key];
    return typeof value === 'string' ? value : undefined;
  }

  /** Returns a field that is a map, without a report. */
  peekMap(key: string): Fields | undefined {
    const value = this.#values[key];
    return isFields(value) ? new Fields(value, [...this.#path, key], this.#source) : undefined;
  }

  number(key: string, required = true): number | undefined {
    return this.#readTyped(
      key,
      'a number',
      (value): value is number => typeof value === 'number' && Number.isFinite(value),
      required,
    );
  }

  flag(key: string): boolean | undefined {
    return this.#readTyped(key, 'true or false', (value) => typeof value === 'boolean', false);
  }

  map(key: string, required = true): Fields | undefined {
    const value = this.value(key);
    if (value === undefined) return required ? this.fail(key, 'is required: a map') : undefined;
    return new Fields(value, [...this.#path, key], this.#source);
  }

  maps(key: string, required = true): Fields[] {
    const value = this.value(key);
    if (value === undefined && !required) return [];
    if (!Array.isArray(value)) {
      this.fail(key, 'must be a list');
      return [];
    }
    return value.map((each, index) => new Fields(each, [...this.#path, key, index], this.#source));
  }

  /** Reports each field that was not read. */
  reportUnread(message = 'cannot be imported: remove it'): void {
    for (const key of this.keys) if (!this.#readKeys.has(key) && this.has(key)) this.fail(key, message);
  }
}

/** Returns labels as text; several values of a label are joined by commas. */
export const readLabels = (fields: Fields, key: string): Record<string, string> => {
  const labels = fields.map(key, false);
  const texts: Record<string, string> = {};
  for (const name of labels?.keys ?? []) {
    const value = labels?.value(name);
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.every((value) => ['string', 'number', 'boolean'].includes(typeof value))) texts[name] = values.join(',');
    else labels?.fail(name, 'must be a string or a list of strings');
  }
  return texts;
};

/** Returns the name of an object in its document, `namespace/name` if it has a namespace, without a report. */
export const peekObjectName = (fields: Fields): string | undefined => {
  const metadata = fields.peekMap('metadata');
  const [name, namespace] = [metadata?.peekText('name'), metadata?.peekText('namespace')];
  return name === undefined || namespace === undefined ? name : `${namespace}/${name}`;
};

/** One objective of a document; `slo` is undefined if it cannot be imported */
export interface SloPart {
  readonly line: number;
  /** Title; null if it cannot be read */
  readonly name: string | null;
  /** Identity: its own name in the document, which is not its title */
  readonly importedFrom: { readonly format: 'openslo' | 'sloth' | 'pyrra'; readonly name: string };
  readonly slo: SloFields | undefined;
  readonly problems: readonly OpenSloProblem[];
}

/** One object of a text */
export interface OpenSloObject {
  readonly document: number;
  readonly line: number;
  readonly fields: Fields;
  /** Problems reported since the object was parsed, without those of its parts */
  readonly problems: readonly OpenSloProblem[];
  /** Parses a part of the object, such as an objective, and returns its problems separately. */
  parsePart<Result>(parse: () => Result): { readonly result: Result; readonly problems: readonly OpenSloProblem[] };
}

const createObject = (
  value: unknown,
  path: Path,
  { document, getLine }: { readonly document: number; getLine(path: Path): number },
): OpenSloObject => {
  const problems: OpenSloProblem[] = [];
  const report = (path: Path, message: string): void => {
    problems.push({ document, line: getLine(path), field: path.join('.'), message });
  };
  return {
    document,
    line: getLine(path),
    fields: new Fields(value, path, { report, getLine }),
    problems,
    parsePart(parse) {
      const knownCount = problems.length;
      const result = parse();
      return { result, problems: problems.splice(knownCount) };
    },
  };
};

/** Returns the objects of a text, and YAML errors. */
export const parseObjects = (text: string): { objects: OpenSloObject[]; problems: OpenSloProblem[] } => {
  const objects: OpenSloObject[] = [];
  const problems: OpenSloProblem[] = [];
  for (const [index, part] of splitDocuments(text).entries()) {
    const document = index + 1;
    try {
      const yaml = parseYaml(part.text);
      const location = { document, getLine: (path: Path) => part.line + yaml.getPathLine(path) - 1 };
      const value = yaml.value();
      if (Array.isArray(value)) objects.push(...value.map((each, index) => createObject(each, [index], location)));
      else objects.push(createObject(value, [], location));
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      problems.push({
        document,
        line: part.line + error.line - 1,
        field: '',
        message: `is not valid YAML: ${error.message}`,
      });
    }
  }
  return { objects, problems };
};
