import { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { attributeList } from '../../schemas/records/attributes.ts';
import type { RecordShape } from './field-counts.ts';

type Type = RecordShape[number]['type'];

/** Maximum number of resources and scopes with a cached shape. */
const maxShapes = 100_000;
const resourceAttributes = 0x0a;

/** If a key is repeated, its first attribute counts. For resources, the order is that of the type characters. */
const createShape = (
  kind: 'resource' | 'scope',
  attributes: readonly { readonly key: string; readonly type: Type }[],
): RecordShape => {
  const types = new Map<string, Type>();
  for (const { key, type } of attributes) {
    const known = types.get(key);
    if (known === undefined || type < known) types.set(key, type);
  }
  return [...types].map(([key, type]) => ({ kind, key, type }));
};

const jsonType = (value: unknown): Type => {
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
  resource(low: number, high: number, bytes: Uint8Array, start: number, end: number): RecordShape {
    const known = this.#resources.get(low);
    if (known?.high === high) return known.shape;
    const found = attributeList(new WireCursor(bytes), resourceAttributes, start, end);
    const shape = this.#intern(createShape('resource', found));
    if (this.#resources.size >= maxShapes) this.#resources.clear();
    this.#resources.set(low, { high, shape });
    return shape;
  }

  /** Returns the shape of the scope with these attributes, as JSON. */
  scope(json: string): RecordShape {
    const known = this.#scopes.get(json);
    if (known !== undefined) return known;
    const found = json === '' ? [] : Object.entries(JSON.parse(json) as Record<string, unknown>);
    const shape = this.#intern(
      createShape(
        'scope',
        found.map(([key, value]) => ({ key, type: jsonType(value) })),
      ),
    );
    if (this.#scopes.size >= maxShapes) this.#scopes.clear();
    this.#scopes.set(json, shape);
    return shape;
  }

  #intern(shape: RecordShape): RecordShape {
    const id = JSON.stringify(shape);
    const known = this.#shapes.get(id);
    if (known !== undefined) return known;
    if (this.#shapes.size >= maxShapes) this.#shapes.clear();
    this.#shapes.set(id, shape);
    return shape;
  }
}
