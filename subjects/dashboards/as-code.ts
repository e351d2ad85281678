/** A dashboard as a file: its id, where it comes from, and what it says, without what is left to its default. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { inWorker } from '../../queries/worker.ts';
import { readYaml, YamlError } from '../../queries/yaml.ts';
import { writeYaml } from '../../queries/yaml-writing.ts';
import { Visual } from '../../schemas/dashboards/visuals.ts';
import { DashboardFields, type Panel } from './document.ts';

/** An id that an author gives a dashboard. */
export const DashboardId = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,127}$/,
    'must be letters, digits, ., _ and -, at most 128, and begin with a letter or digit',
  );

/** What a file holds. */
export interface DashboardFile {
  readonly id?: string | undefined;
  /** Where it is kept: what the dashboard says of that. */
  readonly source?: string | undefined;
  readonly document: DashboardFields;
}

export interface FileProblem {
  readonly path: string;
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The declaration of one of several forms, told by the literal that they all have. */
const formOf = (forms: readonly z.core.$ZodType[], value: unknown): z.core.$ZodType | undefined =>
  forms.find((form) => {
    const { def } = (form as z.ZodType)._zod;
    if (def.type === 'union') return formOf((def as z.core.$ZodUnionDef).options, value) !== undefined;
    if (def.type !== 'object' || !isFields(value)) return false;
    const literals = Object.entries((def as z.core.$ZodObjectDef).shape).filter(
      ([, member]) => member._zod.def.type === 'literal',
    );
    return literals.length > 0 && literals.every(([name, member]) => member._zod.values?.has(value[name] as string));
  });

const left = Symbol('left to its default');

const ofObject = (shape: Readonly<Record<string, z.core.$ZodType>>, value: Fields): Fields =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([name, member]) => {
      if (value[name] === undefined) return [];
      const short = shortened(member, value[name]);
      return short === left ? [] : [[name, short]];
    }),
  );

/** A value in the order of its declaration and without what the declaration gives by itself; `left` where that is all of it. */
const shortened = (schema: z.core.$ZodType, value: unknown): unknown => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'default':
      return isDeepStrictEqual((def as z.core.$ZodDefaultDef).defaultValue, value)
        ? left
        : shortened((def as z.core.$ZodDefaultDef).innerType, value);
    case 'prefault': {
      const { innerType, defaultValue } = def as z.core.$ZodPrefaultDef;
      return isDeepStrictEqual(z.parse(innerType, defaultValue), value) ? left : shortened(innerType, value);
    }
    case 'optional':
    case 'nullable':
      return value === null ? null : shortened((def as z.core.$ZodOptionalDef).innerType, value);
    case 'array':
      return (value as readonly unknown[]).map((member) => shortened((def as z.core.$ZodArrayDef).element, member));
    case 'record':
      return Object.fromEntries(
        Object.entries(value as Fields).map(([name, member]) => [
          name,
          shortened((def as z.core.$ZodRecordDef).valueType, member),
        ]),
      );
    case 'union': {
      const form = formOf((def as z.core.$ZodUnionDef).options, value);
      return form === undefined ? value : shortened(form, value);
    }
    case 'object':
      return ofObject((def as z.core.$ZodObjectDef).shape, value as Fields);
    default:
      return value;
  }
};

/** A dashboard as one object, as files hold it: keys in the order of the declaration, and nothing that is left to its default. */
export const dashboardFile = ({ id, source, document }: DashboardFile): object => ({
  ...(id !== undefined && { id }),
  ...(source !== undefined && { source }),
  ...(shortened(DashboardFields, document) as Fields),
});

/** A dashboard as the text of a file of YAML. */
export const documentFile = (id: string | undefined, document: DashboardFields, source?: string): string =>
  writeYaml(dashboardFile({ id, source, document }), { lineWidth: 0 });

const Head = z.object({ id: DashboardId.optional(), source: z.string().min(1).max(512).optional() });

/** What is wrong with a value, each with its path. */
export const fileProblems = ({ issues }: z.ZodError): FileProblem[] =>
  issues.flatMap(({ path, message, ...issue }) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key].map(String).join('.'), message: 'is not a known field' }))
      : [{ path: path.map(String).join('.'), message }],
  );

/** A dashboard of the value that a file holds, or what is wrong with it. */
export const readDocumentValue = (value: unknown): DashboardFile | { readonly problems: readonly FileProblem[] } => {
  if (!isFields(value)) return { problems: [{ path: '', message: 'a dashboard must be an object' }] };
  const { id, source, ...fields } = value;
  const head = Head.safeParse({ id, source });
  const document = DashboardFields.safeParse(fields);
  if (head.success && document.success) return { ...head.data, document: document.data };
  return { problems: [head, document].flatMap(({ error }) => (error === undefined ? [] : fileProblems(error))) };
};

/** A dashboard of the text of a file, YAML or JSON, or what is wrong with it. */
export const readDocumentFile = (text: string): DashboardFile | { readonly problems: readonly FileProblem[] } => {
  try {
    return readDocumentValue(readYaml(text).value());
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problems: [{ path: '', message: `it is no YAML: ${error.text}` }] };
  }
};

/** The same, which reads long texts in a thread. */
export const readDocumentFileInWorker = inWorker(import.meta.url, readDocumentFile);

/** What a panel draws, without what is left to its default. */
export const shortenedVisual = (visual: Panel['visual']): Fields => shortened(Visual, visual) as Fields;
