/** Schemas that validate many values. Each is compiled to a function that returns the same results in less time. */
import { z } from 'zod';

const compiledSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** Returns the same schema, compiled at its first use: a process never uses most of them. */
export const compileOnce = <Schema extends z.ZodType>(schema: Schema): Schema => {
  const cachedSchema = compiledSchemas.get(schema);
  if (cachedSchema !== undefined) return cachedSchema as Schema;
  const compiledSchema = z.compile(schema);
  compiledSchemas.set(schema, compiledSchema);
  return compiledSchema;
};
