/** Labels and annotations with figures and labels in them, as Prometheus' rule files write them: Go's templates. */
import { TemplateError } from './errors.ts';
import { functions } from './functions.ts';
import { type Node, parseTemplate } from './parse.ts';
import { runTemplate, type TemplateValues } from './run.ts';

const own = new Set(['and', 'or', 'query']);
const isKnown = (name: string): boolean => own.has(name) || Object.hasOwn(functions, name);

const read = (template: string, mayQuery: boolean): readonly Node[] | string => {
  try {
    return parseTemplate(template, (name) => {
      if (name === 'query' && !mayQuery) throw new TemplateError('query is for annotations alone');
      return isKnown(name);
    });
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
};

/**
 * The text with its values. One that cannot be read stays as it is; where it cannot be filled in it says so, so that an alert is told all
 * the same.
 */
export const fillIn = (template: string, values: TemplateValues): string => {
  if (!template.includes('{{')) return template;
  const nodes = read(template, values.queried !== undefined);
  if (typeof nodes === 'string') return template;
  try {
    return runTemplate(nodes, values);
  } catch (error) {
    if (error instanceof TemplateError) return `<error expanding template: ${error.message}>`;
    throw error;
  }
};

/** Why a template cannot be read; undefined where it can. What its values are is not known before. */
export const templateProblem = (template: string, mayQuery = true): string | undefined => {
  const nodes = template.includes('{{') ? read(template, mayQuery) : [];
  return typeof nodes === 'string' ? nodes : undefined;
};
