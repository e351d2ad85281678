import { emptyRange, Resource } from '../../schemas/records/origin.ts';
import type { RecordShape } from './field-counts.ts';

type ShapeType = RecordShape[number]['type'];

/** Maximum number of resources and scopes with a cached shape. */
const maxShapes = 100_000;

/** If a key is repeated, its first attribute counts. For resources, the order is that of the type characters. */
const createShape = (
  kind: 'resource' | 'scope',
  attributes: readonly { readonly key: string; readonly type: ShapeType }[],
): RecordShape => {
  const types = new Map<string, ShapeType>();
  for (const { key, type } of attributes) {
    const existingType = types.get(key);
    if (existingType === undefined || type < existingType) types.set(key, type);
  }
  return [...types].map(([key, type]) => ({ kind, key, type }));
};

const getJsonType = (value: unknown): ShapeType => {
  if (value === null) return 'n';
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? 'i' : 'd';
  if (typeof value === 'boolean') return 'b';
  return typeof value === 'string' ? 's' : 'j';
};

/** Attributes of resources and scopes. Equal shapes are the same object. */
export class ShapeCache {
  readonly #resources = new Map<number, { readonly high: number; readonly shape: RecordShape }>();
  readonly #scopes = new Map<string, RecordShape>();
  readonly #shapes = new Map<string, RecordShape>();

  /** Returns the shape of the resource with that ID, in the range `start` to `end`. */
  getResourceShape(low: number, high: number, bytes: Uint8Array, start: number, end: number): RecordShape {
    const cachedResource = this.#resources.get(low);
    if (cachedResource?.high === high) return cachedResource.shape;
    const resource = new Resource();
    resource.moveTo(bytes, [start, end], emptyRange);
    const { attributes, nestedAttributes } = resource;
    const nested = nestedAttributes.flatMap(({ path, type }) => (attributes.has(path) ? [] : [{ key: path, type }]));
    const shape = this.#intern(createShape('resource', [...attributes.values(), ...nested]));
    if (this.#resources.size >= maxShapes) this.#resources.clear();
    this.#resources.set(low, { high, shape });
    return shape;
  }

  /** Returns the shape of the scope with these attributes, as JSON. */
  getScopeShape(json: string): RecordShape {
    const cachedShape = this.#scopes.get(json);
    if (cachedShape !== undefined) return cachedShape;
    const entries = json === '' ? [] : Object.entries(JSON.parse(json) as Record<string, unknown>);
    const shape = this.#intern(
      createShape(
        'scope',
        entries.map(([key, value]) => ({ key, type: getJsonType(value) })),
      ),
    );
    if (this.#scopes.size >= maxShapes) this.#scopes.clear();
    this.#scopes.set(json, shape);
    return shape;
  }

  #intern(shape: RecordShape): RecordShape {
    const id = JSON.stringify(shape);
    const existingShape = this.#shapes.get(id);
    if (existingShape !== undefined) return existingShape;
    if (this.#shapes.size >= maxShapes) this.#shapes.clear();
    this.#shapes.set(id, shape);
    return shape;
  }
}
