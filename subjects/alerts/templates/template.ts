/** Templates in labels and annotations of rules: Go templates, as in Prometheus rule files. */
import { TemplateError } from './errors.ts';
import { functions } from './functions.ts';
import { type Node, parseTemplate } from './parse.ts';
import { runTemplate, type TemplateValues } from './run.ts';

const evaluatorFunctions = new Set(['and', 'or', 'query']);
const isKnownFunction = (name: string): boolean => evaluatorFunctions.has(name) || Object.hasOwn(functions, name);

const parseOrError = (template: string, canQuery: boolean): readonly Node[] | string => {
  try {
    return parseTemplate(template, (name) => {
      if (name === 'query' && !canQuery) throw new TemplateError('query is available only in annotations');
      return isKnownFunction(name);
    });
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
};

/**
 * Renders a template. An invalid template is returned unchanged, and a rendering error becomes part of the text, so
 * that the alert is sent in any case.
 */
export const renderTemplate = (template: string, values: TemplateValues): string => {
  if (!template.includes('{{')) return template;
  const nodes = parseOrError(template, values.queried !== undefined);
  if (typeof nodes === 'string') return template;
  try {
    return runTemplate(nodes, values);
  } catch (error) {
    if (error instanceof TemplateError) return `<error expanding template: ${error.message}>`;
    throw error;
  }
};

/**
 * Returns the problem of an invalid template; undefined if it is valid. Errors that depend on values occur only when it
 * is rendered.
 */
export const findTemplateProblem = (template: string, canQuery = true): string | undefined => {
  const nodes = template.includes('{{') ? parseOrError(template, canQuery) : [];
  return typeof nodes === 'string' ? nodes : undefined;
};
