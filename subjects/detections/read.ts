/** Parses Sigma YAML: each document of a text is a rule, a correlation or a filter. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { runInWorker, type WorkerRequester } from '../../queries/worker.ts';
import { type DocumentText, maxDocuments, splitDocuments } from '../../queries/yaml-documents.ts';
import { ConditionError, collectTerms, parseConditions } from './condition.ts';
import { parseCorrelation } from './correlation-document.ts';
import {
  type Condition,
  type Detection,
  type LogSource,
  type Selection,
  type SelectionItem,
  type SigmaDocument,
  type SigmaDocumentBase,
  type SigmaError,
  type SigmaFilter,
  type SigmaRule,
  type SigmaValue,
  sigmaLevels,
  sigmaStatuses,
} from './documents.ts';
import { findItemError } from './modifiers.ts';
import { YamlDocument, type YamlMap } from './yaml.ts';

/** Parsed documents, and the errors of the others. A document with an error is not among the parsed documents. */
export interface ParsedRules {
  readonly documents: readonly SigmaDocument[];
  readonly errors: readonly SigmaError[];
}

const parseEnum = <Name extends string>(map: YamlMap, key: string, names: readonly Name[]): Name | undefined => {
  const text = map.readText(key).toLowerCase();
  if (text === '') return undefined;
  const matchingName = names.find((name) => name === text);
  if (matchingName === undefined) map.addError(key, `"${text}" is not one of ${names.join(', ')}`);
  return matchingName;
};

const parseHead = (
  root: YamlMap,
  { text, line, document }: { text: string; line: number; document: number },
): SigmaDocumentBase => {
  const title = root.readText('title');
  if (title === '') root.addError('title', 'a title is missing');
  return {
    id: root.readText('id'),
    name: root.readText('name'),
    title,
    description: root.readText('description'),
    author: root.readText('author'),
    status: parseEnum(root, 'status', sigmaStatuses),
    level: parseEnum(root, 'level', sigmaLevels),
    tags: root.readTexts('tags'),
    references: root.readTexts('references'),
    falsePositives: root.readTexts('falsepositives'),
    source: text,
    document,
    line,
  };
};

const parseLogSource = (root: YamlMap): LogSource => {
  const map = root.readMap('logsource');
  if (map === undefined) {
    if (root.getNode('logsource') === undefined) root.addError('logsource', 'a logsource is missing');
    return {};
  }
  const source: { -readonly [Part in keyof LogSource]: LogSource[Part] } = {};
  for (const part of ['product', 'category', 'service'] as const) {
    const text = map.readText(part);
    if (text !== '') source[part] = text.toLowerCase();
  }
  if (Object.keys(source).length === 0) map.addError('', 'a logsource needs a product, a category or a service');
  return source;
};

const parseValues = (map: YamlMap, key: string): SigmaValue[] | undefined => {
  const node = map.getNode(key);
  if (!map.addValues(isSeq(node) ? node.items.length : 1)) {
    map.addError(key, 'a document must have at most 50,000 values');
    return undefined;
  }
  const nodes = isSeq(node) ? (map.readList(key) ?? []) : [node];
  const values = nodes.map((node) => (node === undefined ? null : map.value(node)));
  if (values.every((value) => value !== undefined)) return values as SigmaValue[];
  map.addError(key, isMap(node) ? 'expected a value or a list of values, not a map' : 'expected a list of values');
  return undefined;
};

const parseItems = (map: YamlMap): SelectionItem[] =>
  map.keys.flatMap((key) => {
    const values = parseValues(map, key);
    if (values === undefined) return [];
    const [field = '', ...modifiers] = key.split('|');
    const item = {
      field,
      modifiers: modifiers.map((modifier) => modifier.toLowerCase()),
      values,
      line: map.getLine(key),
    };
    const itemProblem = findItemError(item);
    if (itemProblem !== undefined) map.addError(key, itemProblem);
    return itemProblem === undefined ? [item] : [];
  });

const parseSelection = (detection: YamlMap, name: string): Selection => {
  const node = detection.getNode(name);
  const path = detection.toPath(name);
  const line = detection.getLine(name);
  const createKeywordSelection = (values: readonly SigmaValue[]): Selection => ({
    is: 'all',
    items: [{ field: '', modifiers: [], values, line }],
  });
  const parsePart = (node: Node): Selection => {
    const map = detection.innerMap(node, path);
    if (map !== undefined) return { is: 'all', items: parseItems(map) };
    const value = detection.value(node);
    if (value === undefined) detection.addError(name, 'expected values or maps in the list');
    return createKeywordSelection([value ?? '']);
  };
  if (isMap(node)) return parsePart(node);
  if (isScalar(node) && node.value !== null) return createKeywordSelection([detection.value(node) ?? '']);
  const list = detection.readList(name);
  if (list === undefined || list.length === 0) {
    detection.addError(name, 'a selection needs a map, a value or a list of them');
    return createKeywordSelection([]);
  }
  if (!detection.addValues(list.length)) {
    detection.addError(name, 'a document must have at most 50,000 values');
    return createKeywordSelection([]);
  }
  if (list.every((node) => isScalar(node)))
    return createKeywordSelection(list.map((scalar) => detection.value(scalar) ?? null));
  return { is: 'any', parts: list.map(parsePart) };
};

/** Maximum number of values in the conditions of a document. A value that occurs twice counts twice. */
const maxValues = 50_000;

const parseDetectionConditions = (detection: YamlMap, names: readonly string[]): Condition[] => {
  const texts = detection.readTexts('condition');
  if (texts.length === 0) detection.addError('condition', 'a condition is missing');
  try {
    return parseConditions(texts, names);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    detection.addError('condition', error.message);
    return [];
  }
};

const countValues = (selection: Selection): number =>
  selection.is === 'any'
    ? selection.parts.reduce((sum, part) => sum + countValues(part), 0)
    : selection.items.reduce((sum, { values }) => sum + values.length, 0);

const parseDetection = (map: YamlMap, otherKeys: readonly string[]): Detection => {
  if (map.getNode('timeframe') !== undefined)
    map.addError('timeframe', 'a timeframe is not part of Sigma 2: write a correlation document instead');
  const names = map.keys.filter((key) => !['condition', 'timeframe', ...otherKeys].includes(key));
  if (names.length === 0) map.addError('', 'a selection is missing');
  const selections = new Map(names.map((name) => [name, parseSelection(map, name)]));
  const counts = new Map([...selections].map(([name, selection]) => [name, countValues(selection)]));
  const conditions = parseDetectionConditions(map, names);
  const valueCount = conditions.flatMap(collectTerms).reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
  if (valueCount > maxValues)
    map.addError('condition', `has ${valueCount} values, including repeated uses; the maximum is ${maxValues}`);
  return { selections, conditions };
};

const parseRule = (root: YamlMap, documentFields: SigmaDocumentBase): SigmaRule | undefined => {
  const logsource = parseLogSource(root);
  const detection = root.readMap('detection');
  if (detection === undefined) {
    root.addError('detection', 'a detection is missing');
    return undefined;
  }
  return {
    ...documentFields,
    kind: 'rule',
    logsource,
    detection: parseDetection(detection, []),
    fields: root.readTexts('fields'),
  };
};

const parseFilter = (root: YamlMap, documentFields: SigmaDocumentBase): SigmaFilter | undefined => {
  const logsource = parseLogSource(root);
  const filter = root.readMap('filter');
  if (filter === undefined) return undefined;
  const ruleNames = filter.readTexts('rules');
  const rules =
    ruleNames.length === 0 || (ruleNames.length === 1 && ruleNames[0]?.toLowerCase() === 'any') ? 'any' : ruleNames;
  return { ...documentFields, kind: 'filter', logsource, rules, detection: parseDetection(filter, ['rules']) };
};

/** Maximum number of characters of one document. The largest public rules, lists of hashes, have about 300,000. */
export const maxRuleCharacters = 1_048_576;

const createSizeError = ({ text, line }: DocumentText, document: number): SigmaError => ({
  document,
  line,
  field: '',
  message: `this document has ${text.length} characters; the maximum is ${maxRuleCharacters}`,
  // The document is not parsed, but the error still shows its title.
  title: /^title:[ \t]*(\S.{0,255})/m.exec(text.slice(0, 10_000))?.[1]?.trim() ?? '',
});

const createCountError = ({ line }: DocumentText, document: number): SigmaError => ({
  document,
  line,
  field: '',
  title: '',
  message: `a text must contain at most ${maxDocuments} documents: it was not read from this line on`,
});

/** Parses one document of a text, given its text, its first line and its number. */
export const readDocument = (text: string, line: number, document: number): ParsedRules => {
  const part: DocumentText = { text, line };
  if (document > maxDocuments) return { documents: [], errors: [createCountError(part, document)] };
  if (text.length > maxRuleCharacters) return { documents: [], errors: [createSizeError(part, document)] };
  const errors: SigmaError[] = [];
  const yamlDocument = new YamlDocument(part, document, errors);
  const root = yamlDocument.root();
  if (root === undefined) return { documents: [], errors };
  const node = root.getNode('title');
  yamlDocument.title = isScalar(node) ? String(node.value ?? '') : '';
  const documentFields = parseHead(root, { ...part, document });
  const keys = root.keys;
  const parsedDocument = keys.includes('correlation')
    ? parseCorrelation(root, documentFields)
    : keys.includes('filter')
      ? parseFilter(root, documentFields)
      : parseRule(root, documentFields);
  return { documents: errors.length > 0 || parsedDocument === undefined ? [] : [parsedDocument], errors };
};

const mergeResults = (results: readonly ParsedRules[]): ParsedRules => ({
  documents: results.flatMap(({ documents }) => documents),
  errors: results.flatMap(({ errors }) => errors),
});

/** Parses all documents of a text. Errors are returned in `errors`; nothing is thrown. */
export const readRules = (text: string): ParsedRules =>
  mergeResults(splitDocuments(text).map((part, index) => readDocument(part.text, part.line, index + 1)));

/** Time slice after which parsing yields to the event loop, in milliseconds. A document takes about 1 ms. */
const timeSliceMs = 5;

const readDocumentInWorker = runInWorker(import.meta.url, readDocument);

/**
 * Parses texts in sequence, with any number of documents each. Yields to the event loop between documents and parses
 * long documents in a worker.
 */
export const readRulesInWorker = async (reader: WorkerRequester, texts: readonly string[]): Promise<ParsedRules[]> => {
  const allResults: ParsedRules[] = [];
  let sinceMs = performance.now();
  for (const text of texts) {
    const documentResults: ParsedRules[] = [];
    for (const [index, part] of splitDocuments(text).entries()) {
      documentResults.push(await readDocumentInWorker(reader, part.text, part.line, index + 1));
      if (performance.now() - sinceMs < timeSliceMs) continue;
      await yieldToEventLoop();
      sinceMs = performance.now();
    }
    allResults.push(mergeResults(documentResults));
  }
  return allResults;
};
