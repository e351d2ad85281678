/** Builds a tree over event fields from a detection. */
import type { Condition, Detection, LogSource, Selection, SelectionItem, SigmaValue } from './documents.ts';
import { type FieldTable, listFieldNames } from './fields/table.ts';
import { createPatterns, findOrder, findPosition, findTimePart, toCanonicalModifier } from './modifiers.ts';
import { createNetworkTest } from './network.ts';
import { contains } from './pattern.ts';
import { compileRegex } from './regex.ts';
import type { ExpectedValue, ItemTest, RuleTree, ValueTest } from './tree.ts';

export interface TreeOptions {
  readonly logsource: LogSource;
  readonly tables: readonly FieldTable[];
  /** Values of placeholders, by name without the percent signs */
  readonly placeholders: Readonly<Record<string, readonly string[]>>;
}

const placeholder = /%([A-Za-z0-9_.-]+)%/g;

const listSelectionItems = (selection: Selection): readonly SelectionItem[] =>
  selection.is === 'any' ? selection.parts.flatMap(listSelectionItems) : selection.items;

/** Returns the names of the placeholders of a detection. */
export const findPlaceholders = ({ selections }: Detection): string[] => {
  const names = [...selections.values()]
    .flatMap(listSelectionItems)
    .filter(({ modifiers }) => modifiers.includes('expand'))
    .flatMap(({ values }) => values.flatMap((value) => [...String(value).matchAll(placeholder)]))
    .map(([, name = '']) => name);
  return [...new Set(names)];
};

const maxExpandedTexts = 10_000;

/** Returns a value with its placeholders replaced by each of their values; empty if a placeholder has no values. */
const expandPlaceholders = (text: string, placeholders: TreeOptions['placeholders']): string[] => {
  let texts = [text];
  for (const [placeholderText, name = ''] of text.matchAll(placeholder)) {
    const values = placeholders[name] ?? [];
    texts = texts
      .flatMap((text) => values.map((value) => text.replace(placeholderText, () => value)))
      .slice(0, maxExpandedTexts);
  }
  return texts;
};

const createTextTests = (value: string, modifiers: readonly string[], isKeyword: boolean): ValueTest[] => {
  const isCaseSensitive = modifiers.includes('cased');
  return createPatterns(value, modifiers).map((pattern) => ({
    is: 'pattern',
    pattern: isKeyword ? contains(pattern) : pattern,
    isCaseSensitive,
  }));
};

/** Returns a test of a non-text value; `undefined` for a text. */
const createNonTextTest = (
  value: SigmaValue,
  field: string,
  modifiers: readonly string[],
  options: TreeOptions,
): ValueTest | undefined => {
  const hasModifier = (name: string): boolean => modifiers.includes(name);
  const part = findTimePart(modifiers);
  const order = findOrder(modifiers);
  const text = String(value);
  if (hasModifier('exists')) return { is: 'exists', exists: value === true };
  if (part !== undefined) return { is: 'time', part, order: order ?? 'eq', value: Number(value) };
  if (order !== undefined) return { is: 'order', order, value: Number(value) };
  if (value === null) return { is: 'null' };
  if (hasModifier('cidr')) return { is: 'network', has: createNetworkTest(text) ?? (() => false) };
  if (hasModifier('re')) return createRegexTest(text, modifiers);
  if (hasModifier('fieldref')) {
    const names = listFieldNames(text, options.logsource, options.tables);
    return { is: 'field', names, place: findPosition(modifiers), isCaseSensitive: hasModifier('cased') };
  }
  return typeof value === 'number' && field !== '' && findPosition(modifiers) === undefined
    ? { is: 'number', value }
    : undefined;
};

const createRegexTest = (text: string, modifiers: readonly string[]): ValueTest => {
  const regex = compileRegex(text, modifiers);
  // The parser of the rule has already rejected this.
  if (typeof regex === 'string') throw new TypeError(regex);
  return { is: 'regex', regex };
};

const createTests = (
  value: SigmaValue,
  item: SelectionItem,
  modifiers: readonly string[],
  options: TreeOptions,
): ValueTest[] => {
  const nonTextTest = createNonTextTest(value, item.field, modifiers, options);
  if (nonTextTest !== undefined) return [nonTextTest];
  const texts = modifiers.includes('expand')
    ? expandPlaceholders(String(value), options.placeholders)
    : [String(value)];
  return texts.flatMap((text) => createTextTests(text, modifiers, item.field === ''));
};

const createItemTest = (item: SelectionItem, selection: string, options: TreeOptions): RuleTree => {
  const modifiers = item.modifiers.map(toCanonicalModifier);
  const isAllRequired = modifiers.includes('all');
  const createItem = (values: readonly SigmaValue[]): ItemTest => ({
    is: 'item',
    field: item.field,
    selection,
    all: false,
    isNegated: modifiers.includes('neq'),
    names: item.field === '' ? [] : listFieldNames(item.field, options.logsource, options.tables),
    modifiers: modifiers.join('|'),
    values: values.flatMap((value) =>
      createTests(value, item, modifiers, options).map(
        (valueTest): ExpectedValue => ({ test: valueTest, ruleText: String(value) }),
      ),
    ),
  });
  // One value may expand to several texts, any of which may match. With `all`, each value has its own test.
  return isAllRequired
    ? { is: 'and', parts: item.values.map((value) => createItem([value])) }
    : createItem(item.values);
};

const buildSelectionTree = (selection: Selection, name: string, options: TreeOptions): RuleTree =>
  selection.is === 'any'
    ? { is: 'or', parts: selection.parts.map((part) => buildSelectionTree(part, name, options)) }
    : { is: 'and', parts: selection.items.map((item) => createItemTest(item, name, options)) };

const flatten = (is: 'and' | 'or', parts: readonly RuleTree[]): RuleTree => {
  const flattenedParts = parts.flatMap((part) => (part.is === is ? part.parts : [part]));
  return flattenedParts.length === 1 ? (flattenedParts[0] as RuleTree) : { is, parts: flattenedParts };
};

/** Returns the tree of a condition over named parts. */
export const buildConditionTree = (condition: Condition, getPart: (name: string) => RuleTree): RuleTree => {
  switch (condition.is) {
    case 'and':
    case 'or':
      return flatten(
        condition.is,
        condition.parts.map((part) => buildConditionTree(part, getPart)),
      );
    case 'not':
      return { is: 'not', part: buildConditionTree(condition.part, getPart) };
    case 'selection':
      return getPart(condition.name);
    default:
      return flatten(condition.all ? 'and' : 'or', condition.names.map(getPart));
  }
};

/** Returns the tree of a detection. */
export const buildDetectionTree = ({ selections, conditions }: Detection, options: TreeOptions): RuleTree => {
  const treesByName = new Map<string, RuleTree>();
  const getSelectionTree = (name: string): RuleTree => {
    const existing = treesByName.get(name);
    if (existing !== undefined) return existing;
    const selection = selections.get(name);
    const tree: RuleTree =
      selection === undefined ? { is: 'or', parts: [] } : simplify(buildSelectionTree(selection, name, options));
    treesByName.set(name, tree);
    return tree;
  };
  return flatten(
    'or',
    conditions.map((condition) => buildConditionTree(condition, getSelectionTree)),
  );
};

const simplify = (tree: RuleTree): RuleTree =>
  tree.is === 'and' || tree.is === 'or' ? flatten(tree.is, tree.parts.map(simplify)) : tree;

/** Returns all items of a tree. */
export const collectItems = (tree: RuleTree): ItemTest[] => {
  if (tree.is === 'item') return [tree];
  return tree.is === 'not' ? collectItems(tree.part) : tree.parts.flatMap(collectItems);
};
