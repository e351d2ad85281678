/** Bodies that create and change any configuration resource: its example, with unique names. */
import { randomUUID } from 'node:crypto';
import { resources } from '../../api/groups/index.ts';
import type { RegisteredResource } from '../../api/resources/resource.ts';
import { type Reference, references } from '../../schemas/resources/references.ts';

export type Fields = Record<string, unknown>;

export const resourceOf = ({ name }: Reference['to']): RegisteredResource => {
  const found = resources.find(({ collection }) => collection.name === name);
  if (found === undefined) throw new Error(`no resource is registered for ${name}`);
  return found;
};

const accepts = ({ fields }: RegisteredResource, name: string, value: unknown): boolean =>
  fields.shape[name]?.safeParse(value).success ?? true;

/** A unique value of the same form as the example's value. */
const unique = (resource: RegisteredResource, name: string, value: string): string => {
  const own = randomUUID();
  const found = [`${value} ${own}`, `${value}-${own}`, `${own}-${value}`, own].find((one) =>
    accepts(resource, name, one),
  );
  if (found === undefined) throw new Error(`the field ${name} of a ${resource.noun} takes no value of its own`);
  return found;
};

/** A field of the example that accepts any text. */
export const textField = (resource: RegisteredResource): string =>
  Object.entries(resource.example).find(
    ([name, value]) => typeof value === 'string' && accepts(resource, name, `changed ${randomUUID()}`),
  )?.[0] ?? 'name';

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const placed = (value: unknown, [name, ...rest]: readonly string[], id: string): unknown => {
  if (Array.isArray(value)) return [placed(value[0], name === undefined ? [] : [name, ...rest], id)];
  if (name === undefined) return id;
  const fields = isFields(value) ? value : {};
  return { ...fields, [name]: placed(fields[name], rest, id) };
};

/** A body that refers to `id` at a reference's path; a list there, or on the way, has one element. */
export const referringTo = (resource: RegisteredResource, body: Fields, path: string, id: string): Fields => {
  const [name = '', ...rest] = path.split('.');
  const whole: Fields = { ...resource.fields.parse(resource.example), ...body };
  return { ...body, [name]: placed(whole[name], rest, id) };
};

/** The body of a new resource, which refers to objects that `make` creates. */
export const newBody = async (
  resource: RegisteredResource,
  make: (resource: RegisteredResource) => Promise<string>,
): Promise<Fields> => {
  let body: Fields = { ...resource.example };
  for (const name of new Set([...(resource.collection.unique ?? []).flat(), textField(resource)])) {
    const value = body[name];
    if (typeof value === 'string') body[name] = unique(resource, name, value);
  }
  for (const { from, path, to } of references)
    if (from === resource.collection) body = referringTo(resource, body, path, await make(resourceOf(to)));
  return body;
};
