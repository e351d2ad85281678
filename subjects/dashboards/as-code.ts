/** A dashboard as a file: its ID, its source, and its content without default values. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { runInWorker } from '../../queries/worker.ts';
import { parseYaml, YamlError } from '../../queries/yaml.ts';
import { writeYaml } from '../../queries/yaml-writing.ts';
import { type Fields, isFields } from '../../runtime/fields.ts';
import { Visual } from '../../schemas/dashboards/visuals.ts';
import { DashboardFields, type Panel } from './document.ts';

/** A dashboard ID that its author chose. */
export const DashboardId = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,127}$/,
    'must consist of at most 128 letters, digits, ., _ and -, and begin with a letter or digit',
  );

/** Contents of a dashboard file. */
export interface DashboardFile {
  readonly id?: string | undefined;
  /** Location of the source code, as the dashboard declares it. */
  readonly source?: string | undefined;
  readonly document: DashboardFields;
}

export interface FileProblem {
  readonly path: string;
  readonly message: string;
}

/** Selects the schema of a union by the literal that all members have. */
const findUnionMember = (members: readonly z.core.$ZodType[], value: unknown): z.core.$ZodType | undefined =>
  members.find((form) => {
    const { def } = (form as z.ZodType)._zod;
    if (def.type === 'union') return findUnionMember((def as z.core.$ZodUnionDef).options, value) !== undefined;
    if (def.type !== 'object' || !isFields(value)) return false;
    const literals = Object.entries((def as z.core.$ZodObjectDef).shape).filter(
      ([, member]) => member._zod.def.type === 'literal',
    );
    return literals.length > 0 && literals.every(([name, member]) => member._zod.values?.has(value[name] as string));
  });

const omittedValue = Symbol('left to its default');

const omitObjectDefaults = (shape: Readonly<Record<string, z.core.$ZodType>>, value: Fields): Fields =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([name, member]) => {
      if (value[name] === undefined) return [];
      const compactValue = omitDefaults(member, value[name]);
      return compactValue === omittedValue ? [] : [[name, compactValue]];
    }),
  );

/**
 * Orders the keys of a value by its schema and removes defaults. Returns the symbol `omittedValue` if the value is the default.
 */
const omitDefaults = (schema: z.core.$ZodType, value: unknown): unknown => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'default':
      return isDeepStrictEqual((def as z.core.$ZodDefaultDef).defaultValue, value)
        ? omittedValue
        : omitDefaults((def as z.core.$ZodDefaultDef).innerType, value);
    case 'prefault': {
      const { innerType, defaultValue } = def as z.core.$ZodPrefaultDef;
      return isDeepStrictEqual(z.parse(innerType, defaultValue), value) ? omittedValue : omitDefaults(innerType, value);
    }
    case 'optional':
    case 'nullable':
      return value === null ? null : omitDefaults((def as z.core.$ZodOptionalDef).innerType, value);
    case 'array':
      return (value as readonly unknown[]).map((member) => omitDefaults((def as z.core.$ZodArrayDef).element, member));
    case 'record':
      return Object.fromEntries(
        Object.entries(value as Fields).map(([name, member]) => [
          name,
          omitDefaults((def as z.core.$ZodRecordDef).valueType, member),
        ]),
      );
    case 'union': {
      const form = findUnionMember((def as z.core.$ZodUnionDef).options, value);
      return form === undefined ? value : omitDefaults(form, value);
    }
    case 'lazy':
      return omitDefaults((def as z.core.$ZodLazyDef).getter(), value);
    case 'object':
      return omitObjectDefaults((def as z.core.$ZodObjectDef).shape, value as Fields);
    default:
      return value;
  }
};

/** Returns a dashboard as one object for a file: keys in schema order, without default values. */
export const toFileObject = ({ id, source, document }: DashboardFile): object => ({
  ...(id !== undefined && { id }),
  ...(source !== undefined && { source }),
  ...(omitDefaults(DashboardFields, document) as Fields),
});

/** Returns a dashboard as the text of a YAML file. */
export const toYamlFile = (id: string | undefined, document: DashboardFields, source?: string): string =>
  writeYaml(toFileObject({ id, source, document }), { lineWidth: 0 });

const FileHeader = z.object({ id: DashboardId.optional(), source: z.string().min(1).max(512).optional() });

/** Returns the problems of a value, each with its path. */
export const toFileProblems = ({ issues }: z.ZodError): FileProblem[] =>
  issues.flatMap(({ path, message, ...issue }) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key].map(String).join('.'), message: 'is not a known field' }))
      : [{ path: path.map(String).join('.'), message }],
  );

/** Parses a dashboard from the value of a file, or returns its problems. */
export const parseDashboardValue = (value: unknown): DashboardFile | { readonly problems: readonly FileProblem[] } => {
  if (!isFields(value)) return { problems: [{ path: '', message: 'a dashboard must be an object' }] };
  const { id, source, ...fields } = value;
  const header = FileHeader.safeParse({ id, source });
  const document = DashboardFields.safeParse(fields);
  if (header.success && document.success) return { ...header.data, document: document.data };
  return { problems: [header, document].flatMap(({ error }) => (error === undefined ? [] : toFileProblems(error))) };
};

/** Parses a dashboard from the text of a file, YAML or JSON, or returns its problems. */
export const parseDashboardFile = (text: string): DashboardFile | { readonly problems: readonly FileProblem[] } => {
  try {
    return parseDashboardValue(parseYaml(text).value());
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problems: [{ path: '', message: `it is not valid YAML: ${error.text}` }] };
  }
};

/** Parses a dashboard like `parseDashboardFile`, in a worker if the text is long. */
export const readDocumentFileInWorker = runInWorker(import.meta.url, parseDashboardFile);

/** Returns the visualization of a panel without default values. */
export const compactVisual = (visual: Panel['visual']): Fields => omitDefaults(Visual, visual) as Fields;
