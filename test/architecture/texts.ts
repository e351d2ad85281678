/** Texts for people, derived from the code: of settings, metrics, the command line and the page. */
import { createNoopMeter, type Meter } from '@opentelemetry/api';
import {
  isBinaryExpression,
  isExportDeclaration,
  isImportDeclaration,
  isJsxAttribute,
  isJsxText,
  isLiteralTypeNode,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateHead,
  isTemplateMiddleOrTail,
  type Node,
} from 'typescript/unstable/ast';
import { watchProcess } from '../../adapters/own-telemetry/process-metrics.ts';
import { formatSettings } from '../../commands/settings.ts';
import { metricDefinitions } from '../../schemas/ports/metrics.ts';
import { visitSources } from './project.ts';

/** A text and its location in the code. */
export interface ReadText {
  readonly at: string;
  readonly text: string;
}

/** Returns the descriptions of settings, from the output of `oiq settings`. */
const settingTexts = (): ReadText[] =>
  formatSettings()
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => ({ at: 'schemas/settings.ts', text: line.trim() }));

/** Returns the descriptions of the metrics that OIQ exports about itself. */
const metricTexts = (): ReadText[] => {
  const texts = Object.values(metricDefinitions).map(({ summary }) => summary as string);
  const meter = new Proxy(createNoopMeter(), {
    get: (noop, name: keyof Meter) => (instrument: string, options?: { readonly description?: string }) => {
      if (options?.description !== undefined) texts.push(options.description);
      return (noop[name] as (instrument: string, options: unknown) => unknown).call(noop, instrument, options);
    },
  });
  watchProcess(meter, 'version').stop();
  return texts.map((text) => ({ at: 'metrics', text }));
};

/** Attributes whose values are not shown to people. */
const codeAttributes =
  /^(?:class|style|d|viewBox|transform|list|autocomplete|preserveAspectRatio|aria-labelledby|aria-describedby)$/;

const isCode = (ancestors: readonly Node[]): boolean => {
  const parent = ancestors.at(-1);
  if (parent === undefined || isImportDeclaration(parent) || isExportDeclaration(parent) || isLiteralTypeNode(parent))
    return true;
  if (isBinaryExpression(parent) && /[=!]==$/.test(parent.operatorToken.getText())) return true;
  return ancestors.some((each) => isJsxAttribute(each) && codeAttributes.test(each.name.getText()));
};

/** Returns the text of a literal; undefined for other nodes. */
const literalOf = (node: Node): string | undefined =>
  isStringLiteral(node) ||
  isNoSubstitutionTemplateLiteral(node) ||
  isTemplateHead(node) ||
  isTemplateMiddleOrTail(node) ||
  isJsxText(node)
    ? node.text
    : undefined;

/** Whether a text has several words or starts with a capital: single lower-case words are mostly names in code. */
const isProse = (text: string): boolean =>
  (/[a-z] \S*[a-z]/i.test(text) || /^[A-Z][a-z]+[.!?…]?$/.test(text.trim())) && !/=>|\bconst /.test(text);

/** Returns the texts of the page and of the command line: JSX texts, labels, messages and help. */
const literalTexts = (): ReadText[] => {
  const found: ReadText[] = [];
  visitSources((file, source) => {
    if (!/^(?:web|commands|bin|api\/page)\//.test(file)) return;
    const visit = (node: Node, ancestors: readonly Node[]): void => {
      const text = literalOf(node);
      if (text !== undefined && isProse(text) && !isCode(ancestors)) found.push({ at: file, text });
      node.forEachChild((child) => visit(child, [...ancestors, node]));
    };
    visit(source, []);
  });
  return found;
};

/** Returns all texts for people outside of the API. */
export const readTexts = (): ReadText[] => [...settingTexts(), ...metricTexts(), ...literalTexts()];
