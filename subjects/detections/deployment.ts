/** Compiles the detection rules that an organization has deployed. */

import type { WorkerRequester } from '../../queries/worker.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type {
  DetectionFields,
  DetectionPlaceholder,
  DetectionRule,
  RuleException,
} from '../../schemas/resources/detection-rule.ts';
import {
  formatSigmaError,
  type LogSource,
  type SelectionItem,
  type SigmaCorrelation,
  type SigmaDocument,
  type SigmaValue,
} from './documents.ts';
import { mergeTables } from './fields/index.ts';
import type { FieldTable } from './fields/table.ts';
import { findItemError } from './modifiers.ts';
import { foldCase } from './pattern.ts';
import { type ParsedRules, readRules, readRulesInWorker } from './read.ts';
import { compileRuleSet, type DeployedRule, type RuleSet } from './rule-set.ts';

export type StoredRule = DetectionRule & StoredMetadata;

/** A deployed correlation. */
export interface DeployedCorrelation {
  readonly id: string;
  readonly stored: StoredRule;
  readonly document: SigmaCorrelation;
  /** Whether the correlation names other correlations */
  readonly isChained: boolean;
}

/** The deployed rules and correlations of a tenant */
export interface Deployment {
  readonly set: RuleSet;
  readonly tables: readonly FieldTable[];
  readonly stored: ReadonlyMap<string, StoredRule>;
  readonly correlations: readonly DeployedCorrelation[];
  /** Correlations by the id or name of each rule that they reference */
  readonly byRule: ReadonlyMap<string, readonly DeployedCorrelation[]>;
  /** Ids and names of rules that emit no security signals themselves */
  readonly silent: ReadonlySet<string>;
  /** Deployed documents that cannot run, with the reason */
  readonly problems: readonly { readonly ruleId: string; readonly message: string }[];
}

/** Stored documents from which a deployment is built. */
export interface DeploymentSource {
  readonly rules: readonly StoredRule[];
  readonly fields: readonly DetectionFields[];
  readonly placeholders: readonly DetectionPlaceholder[];
}

/** Maximum number of characters of the source texts in the cache of parsed documents */
const maxCachedCharacters = 64 * 1024 * 1024;
const cache = new Map<string, SigmaDocument | string>();
let cachedCharacters = 0;

const noDocuments: ParsedRules = { documents: [], errors: [] };

const cacheDocument = (source: string, { documents, errors }: ParsedRules): SigmaDocument | string => {
  const [error] = errors;
  const result = (error === undefined ? documents[0] : formatSigmaError(error)) ?? 'the text contains no document';
  if (cachedCharacters + source.length > maxCachedCharacters) {
    cache.clear();
    cachedCharacters = 0;
  }
  cache.set(source, result);
  cachedCharacters += source.length;
  return result;
};

/**
 * Returns the document of a YAML text, or an error message. Results are cached by text. Call this in a worker: parsing
 * a long text takes seconds.
 */
export const parseDocument = (source: string): SigmaDocument | string =>
  cache.get(source) ?? cacheDocument(source, readRules(source));

/**
 * Returns the documents of YAML texts, or an error message for each. Long texts are parsed in a worker, and the event
 * loop runs in between.
 */
export const parseDocuments = async (
  reader: WorkerRequester,
  sources: readonly string[],
): Promise<(SigmaDocument | string)[]> => {
  // The results are kept here, because the cache may evict them while other texts are parsed.
  const documentsBySource = new Map(sources.map((source) => [source, cache.get(source)]));
  const uncachedSources = [...documentsBySource.keys()].filter((source) => documentsBySource.get(source) === undefined);
  const parsedRules = await readRulesInWorker(reader, uncachedSources);
  for (const [index, source] of uncachedSources.entries())
    documentsBySource.set(source, cacheDocument(source, parsedRules[index] ?? noDocuments));
  return sources.map((source) => documentsBySource.get(source) ?? parseDocument(source));
};

/** Returns the names by which a correlation may reference a deployed document. */
export const getDocumentNames = (id: string, document: SigmaDocument): string[] =>
  [...new Set([id, document.id, document.name])].filter((name) => name !== '');

const toExceptionItems = ({ when }: Pick<RuleException, 'when'>): SelectionItem[] =>
  Object.entries(when).map(([key, value]): SelectionItem => {
    const [field = '', ...modifiers] = key.split('|');
    return { field, modifiers, values: (Array.isArray(value) ? value : [value]) as SigmaValue[], line: 0 };
  });

/** Returns the error of an exception and the path of the invalid field. */
export const findExceptionError = (
  exception: Pick<RuleException, 'when'>,
): { path: string; message: string } | undefined => {
  const items = toExceptionItems(exception);
  if (items.length === 0)
    return { path: 'when', message: 'must test at least one field: otherwise it matches nothing' };
  for (const item of items) {
    const message = findItemError(item);
    if (message !== undefined) return { path: `when.${[item.field, ...item.modifiers].join('|')}`, message };
  }
  return undefined;
};

/**
 * Returns a rule that matches the conditions of an exception; its matches are covered by the exception. Returns
 * `undefined` if the exception is invalid or belongs to a document that is not a rule.
 */
const toExceptionRule = (exception: RuleException, rule: DeployedRule): DeployedRule | undefined => {
  if (rule.document.kind !== 'rule') return undefined;
  if (findExceptionError(exception) !== undefined) return undefined;
  const items = toExceptionItems(exception);
  const detection = {
    selections: new Map([['exception', { is: 'all' as const, items }]]),
    conditions: [{ is: 'selection' as const, name: 'exception' }],
  };
  // The exception is only evaluated with a rule that matched, and it may require a field to be absent.
  return {
    ...rule,
    id: toExceptionKey(rule.id, exception.id),
    document: { ...rule.document, detection },
    anySource: true,
  };
};

/** Returns the key of an exception among the rules of a set. */
export const toExceptionKey = (ruleId: string, exceptionId: string): string => `${ruleId}\n${exceptionId}`;

const compileCorrelations = (
  deployed: readonly (DeployedRule & { readonly stored: StoredRule })[],
  problems: { ruleId: string; message: string }[],
): DeployedCorrelation[] => {
  const names = new Map(
    deployed.flatMap((each) => getDocumentNames(each.id, each.document).map((name) => [name, each] as const)),
  );
  const getCorrelationDepth = (document: SigmaDocument, ancestors: readonly SigmaDocument[]): number => {
    if (document.kind !== 'correlation') return 0;
    if (ancestors.includes(document)) return Number.POSITIVE_INFINITY;
    const depths = document.rules.map((name) => {
      const referenced = names.get(name);
      return referenced === undefined ? 0 : getCorrelationDepth(referenced.document, [...ancestors, document]);
    });
    return 1 + Math.max(...depths);
  };
  return deployed.flatMap(({ id, document, stored }) => {
    if (document.kind !== 'correlation') return [];
    const missing = document.rules.filter((name) => !names.has(name));
    if (missing.length > 0)
      problems.push({ ruleId: id, message: `it references ${missing.join(', ')}, which is not deployed` });
    const depth = getCorrelationDepth(document, []);
    if (depth <= 2) return [{ id, stored, document, isChained: depth === 2 }];
    const message =
      depth === Number.POSITIVE_INFINITY
        ? 'it references itself through other correlations'
        : 'it references correlations that reference correlations';
    problems.push({ ruleId: id, message });
    return [];
  });
};

/** Returns a log source without parts that are not set. */
const toLogSource = ({ product, category, service }: DetectionFields['rules'][number]): LogSource => ({
  ...(product !== undefined && { product }),
  ...(category !== undefined && { category }),
  ...(service !== undefined && { service }),
});

/** Returns a field table defined by an organization, in the form of the built-in tables. */
export const toFieldTable = ({ name, summary, rules, fields, roots, sources }: DetectionFields): FieldTable => ({
  name,
  summary,
  rules: rules.map(toLogSource),
  fields,
  roots,
  sources: sources.map(({ when, is, categories }) => ({
    when: when.map(({ names, values }) => (values === undefined ? { names } : { names, values })),
    is: toLogSource(is),
    ...(categories !== undefined && {
      categories: {
        names: categories.names,
        by: Object.fromEntries(Object.entries(categories.by).map(([value, each]) => [foldCase(value), each])),
      },
    }),
  })),
});

/** Compiles a deployment from stored documents. Documents that cannot be parsed are reported in `problems`. */
export const compileDeployment = (
  rules: Iterable<StoredRule>,
  fieldDocuments: Iterable<DetectionFields>,
  placeholders: Iterable<DetectionPlaceholder>,
): Deployment => {
  const problems: { ruleId: string; message: string }[] = [];
  const stored = new Map<string, StoredRule>();
  const deployed: (DeployedRule & { readonly stored: StoredRule })[] = [];
  for (const rule of rules) {
    if (!rule.enabled) continue;
    const document = parseDocument(rule.source);
    if (typeof document === 'string') {
      problems.push({ ruleId: rule.id, message: document });
      continue;
    }
    stored.set(rule.id, rule);
    deployed.push({ id: rule.id, version: rule.version, document, stored: rule, anySource: rule.anySource === true });
  }
  // The order of documents in the store is not significant.
  deployed.sort((left, right) => (left.id < right.id ? -1 : 1));
  const exceptions = deployed
    .flatMap((rule) => rule.stored.exceptions.map((exception) => toExceptionRule(exception, rule)))
    .filter((exceptionRule) => exceptionRule !== undefined);
  const values = Object.fromEntries([...placeholders].map(({ name, values: each }) => [name, each]));
  const tables = mergeTables([...fieldDocuments].map(toFieldTable));
  const correlations = compileCorrelations(deployed, problems);
  const byRule = new Map<string, DeployedCorrelation[]>();
  for (const correlation of correlations)
    for (const name of correlation.document.rules) addToList(byRule, name, correlation);
  const rulesWithOwnSignals = new Set(
    correlations.filter(({ document }) => document.generate).flatMap(({ document }) => document.rules),
  );
  return {
    set: compileRuleSet(
      [...deployed, ...exceptions],
      tables,
      Object.keys(values).length === 0 ? {} : { placeholders: values },
    ),
    tables,
    stored,
    correlations,
    byRule,
    problems,
    silent: new Set([...byRule.keys()].filter((name) => !rulesWithOwnSignals.has(name))),
  };
};
