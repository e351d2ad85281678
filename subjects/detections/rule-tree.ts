/** Builds a tree over event fields from a detection */
import type { Condition, Detection, LogSource, Selection, SelectionItem, SigmaValue } from './documents.ts';
import { type FieldTable, fieldNames } from './fields/table.ts';
import { canonicalModifier, createPatterns, findOrder, findPlace, findTimePart } from './modifiers.ts';
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

const selectionItems = (selection: Selection): readonly SelectionItem[] =>
  selection.is === 'any' ? selection.parts.flatMap(selectionItems) : selection.items;

/** Returns the names of the placeholders of a detection. */
export const findPlaceholders = ({ selections }: Detection): string[] => {
  const names = [...selections.values()]
    .flatMap(selectionItems)
    .filter(({ modifiers }) => modifiers.includes('expand'))
    .flatMap(({ values }) => values.flatMap((value) => [...String(value).matchAll(placeholder)]))
    .map(([, name = '']) => name);
  return [...new Set(names)];
};

const maxExpandedTexts = 10_000;

/** Returns a value with its placeholders replaced by each of their values; empty if a placeholder has no values. */
const expandPlaceholders = (text: string, placeholders: TreeOptions['placeholders']): string[] => {
  let texts = [text];
  for (const [whole, name = ''] of text.matchAll(placeholder)) {
    const values = placeholders[name] ?? [];
    texts = texts.flatMap((each) => values.map((value) => each.replace(whole, () => value))).slice(0, maxExpandedTexts);
  }
  return texts;
};

const textTests = (value: string, modifiers: readonly string[], isKeyword: boolean): ValueTest[] => {
  const cased = modifiers.includes('cased');
  return createPatterns(value, modifiers).map((pattern) => ({
    is: 'pattern',
    pattern: isKeyword ? contains(pattern) : pattern,
    cased,
  }));
};

/** Returns a test of a non-text value; `undefined` for a text. */
const createNonTextTest = (
  value: SigmaValue,
  field: string,
  modifiers: readonly string[],
  options: TreeOptions,
): ValueTest | undefined => {
  const has = (name: string): boolean => modifiers.includes(name);
  const part = findTimePart(modifiers);
  const order = findOrder(modifiers);
  const text = String(value);
  if (has('exists')) return { is: 'exists', exists: value === true };
  if (part !== undefined) return { is: 'time', part, order: order ?? 'eq', value: Number(value) };
  if (order !== undefined) return { is: 'order', order, value: Number(value) };
  if (value === null) return { is: 'null' };
  if (has('cidr')) return { is: 'network', has: createNetworkTest(text) ?? (() => false) };
  if (has('re')) return regexTest(text, modifiers);
  if (has('fieldref')) {
    const names = fieldNames(text, options.logsource, options.tables);
    return { is: 'field', names, place: findPlace(modifiers), cased: has('cased') };
  }
  return typeof value === 'number' && field !== '' && findPlace(modifiers) === undefined
    ? { is: 'number', value }
    : undefined;
};

const regexTest = (text: string, modifiers: readonly string[]): ValueTest => {
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
  const other = createNonTextTest(value, item.field, modifiers, options);
  if (other !== undefined) return [other];
  const texts = modifiers.includes('expand')
    ? expandPlaceholders(String(value), options.placeholders)
    : [String(value)];
  return texts.flatMap((text) => textTests(text, modifiers, item.field === ''));
};

const itemTest = (item: SelectionItem, selection: string, options: TreeOptions): RuleTree => {
  const modifiers = item.modifiers.map(canonicalModifier);
  const all = modifiers.includes('all');
  const test = (values: readonly SigmaValue[]): ItemTest => ({
    is: 'item',
    field: item.field,
    selection,
    all: false,
    differs: modifiers.includes('neq'),
    names: item.field === '' ? [] : fieldNames(item.field, options.logsource, options.tables),
    modifiers: modifiers.join('|'),
    values: values.flatMap((value) =>
      createTests(value, item, modifiers, options).map(
        (each): ExpectedValue => ({ test: each, ruleText: String(value) }),
      ),
    ),
  });
  // One value may expand to several texts, any of which may match. With `all`, each value has its own test.
  return all ? { is: 'and', parts: item.values.map((value) => test([value])) } : test(item.values);
};

const selectionTree = (selection: Selection, name: string, options: TreeOptions): RuleTree =>
  selection.is === 'any'
    ? { is: 'or', parts: selection.parts.map((part) => selectionTree(part, name, options)) }
    : { is: 'and', parts: selection.items.map((item) => itemTest(item, name, options)) };

const flatten = (is: 'and' | 'or', parts: readonly RuleTree[]): RuleTree => {
  const all = parts.flatMap((part) => (part.is === is ? part.parts : [part]));
  return all.length === 1 ? (all[0] as RuleTree) : { is, parts: all };
};

/** Returns the tree of a condition over named parts. */
export const buildConditionTree = (condition: Condition, partOf: (name: string) => RuleTree): RuleTree => {
  switch (condition.is) {
    case 'and':
    case 'or':
      return flatten(
        condition.is,
        condition.parts.map((part) => buildConditionTree(part, partOf)),
      );
    case 'not':
      return { is: 'not', part: buildConditionTree(condition.part, partOf) };
    case 'selection':
      return partOf(condition.name);
    default:
      return flatten(condition.all ? 'and' : 'or', condition.names.map(partOf));
  }
};

/** Returns the tree of a detection. */
export const detectionTree = ({ selections, conditions }: Detection, options: TreeOptions): RuleTree => {
  const treesByName = new Map<string, RuleTree>();
  const getSelectionTree = (name: string): RuleTree => {
    const known = treesByName.get(name);
    if (known !== undefined) return known;
    const selection = selections.get(name);
    const tree: RuleTree =
      selection === undefined ? { is: 'or', parts: [] } : simplify(selectionTree(selection, name, options));
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
