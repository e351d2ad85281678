/** Finds content that a schema does not know, in requests without any record. */
import type { WireSchema } from './messages.ts';
import { WireReader } from './reader.ts';
import type { SplittableMessage } from './split.ts';

const isKnownField = ({ actions }: WireSchema, message: number, field: number): boolean => {
  if (field > 31) return false;
  const first = (message << 8) | (field << 3);
  return actions.subarray(first, first + 8).some((action) => action !== 0);
};

/**
 * Returns the position of the first field with a length that the schema does not know, in the messages around records;
 * undefined if there is none. Expects a valid body.
 */
export const findUnknownField = (
  schema: WireSchema,
  { message, fields }: SplittableMessage,
  body: Uint8Array,
  range: { readonly start: number; readonly end: number } = { start: 0, end: body.length },
): number | undefined => {
  const reader = new WireReader(body);
  const { end } = range;
  for (let position = range.start; position < end; position = reader.position) {
    reader.position = position;
    const tag = reader.readTag(end);
    const child = fields.get(tag >>> 3);
    if (tag % 8 !== 2) {
      reader.skip(tag, end);
      continue;
    }
    const next = reader.readLengthEnd(end);
    if (!isKnownField(schema, message, tag >>> 3)) return position;
    const nested = child && findUnknownField(schema, child, body, { start: reader.position, end: next });
    if (nested !== undefined) return nested;
    reader.position = next;
  }
  return undefined;
};
