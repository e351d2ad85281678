/**
 * `@platformatic/kafka` compiles a validator for the options of each of its clients when it is loaded, a sixth of all that
 * a start takes. Here each is compiled when it is first used. Imported before the driver.
 */
import { createRequire } from 'node:module';

type Validate = (value: unknown) => unknown;
interface Compiler {
  compile(...schema: readonly unknown[]): Validate & { readonly errors?: unknown };
}

const ofDriver = createRequire(import.meta.resolve('@platformatic/kafka'));
const { prototype } = (ofDriver('ajv/dist/core') as { default: { prototype: Compiler } }).default;
const { compile } = prototype;

prototype.compile = function (...schema) {
  let compiled: ReturnType<Compiler['compile']> | undefined;
  const validate: Validate = (value) => {
    compiled ??= compile.apply(this, [...schema]);
    return compiled(value);
  };
  return Object.defineProperty(validate, 'errors', { get: () => compiled?.errors });
};
