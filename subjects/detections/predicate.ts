/** Compiles rule trees to predicates over the current event. */
import type { EventValue, SigmaEvent } from './event.ts';
import type { ItemTest, RuleTree } from './tree.ts';
import { createLeafTest, createLeafTests } from './value-tests.ts';

/** The current event, with a cache of its field lookups */
export class EventView {
  #event: SigmaEvent | undefined;
  #round = 0;
  readonly #rounds: number[] = [];
  readonly #leaves: (EventValue | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  readonly findOther = (names: readonly string[]): EventValue | undefined => this.#find(names);

  /** Returns the slot of a list of names; equal lists share a slot. */
  assignSlot(names: readonly string[]): number {
    const key = names.join('\n');
    const slot = this.#slots.get(key) ?? this.#slots.size;
    this.#slots.set(key, slot);
    return slot;
  }

  setEvent(event: SigmaEvent): void {
    this.#event = event;
    this.#round++;
  }

  /** Returns the value of the event under the first of the names that it has. */
  findLeaf(slot: number, names: readonly string[]): EventValue | undefined {
    if (this.#rounds[slot] === this.#round) return this.#leaves[slot];
    const values = this.#find(names);
    this.#rounds[slot] = this.#round;
    this.#leaves[slot] = values;
    return values;
  }

  get leaves(): readonly EventValue[] {
    return this.#event?.leaves ?? [];
  }

  #find(names: readonly string[]): EventValue | undefined {
    for (let index = 0; index < names.length; index++) {
      const leaf = this.#event?.get(names[index] as string);
      if (leaf !== undefined) return leaf;
    }
    return undefined;
  }
}

export type Predicate = () => boolean;

const matchesAnyLeaf = (first: EventValue | undefined, isMatch: (leaf: EventValue) => boolean): boolean => {
  for (let leaf = first; leaf !== undefined; leaf = leaf.next) if (!leaf.isNull && isMatch(leaf)) return true;
  return false;
};

const createItemPredicate = (item: ItemTest, view: EventView): Predicate => {
  const test = createLeafTests(item);
  const isMatch = (leaf: EventValue): boolean => test(leaf, view.findOther);
  if (item.names.length === 0)
    return () => {
      const { leaves } = view;
      for (let index = 0; index < leaves.length; index++) if (isMatch(leaves[index] as EventValue)) return true;
      return false;
    };
  const { names } = item;
  const slot = view.assignSlot(names);
  if (item.isNegated)
    return () => {
      const leaf = view.findLeaf(slot, names);
      return leaf !== undefined && !matchesAnyLeaf(leaf, isMatch);
    };
  const existsTest = item.values.find(({ test: valueTest }) => valueTest.is === 'exists')?.test;
  if (existsTest?.is === 'exists') return () => (view.findLeaf(slot, names) !== undefined) === existsTest.exists;
  if (!item.values.some(({ test: valueTest }) => valueTest.is === 'null'))
    return () => matchesAnyLeaf(view.findLeaf(slot, names), isMatch);
  return () => {
    const leaf = view.findLeaf(slot, names);
    return leaf === undefined || leaf.isNull || matchesAnyLeaf(leaf, isMatch);
  };
};

/** Returns the cost of a tree in comparisons; cheaper trees are evaluated first. */
export const estimateCost = (tree: RuleTree): number => {
  switch (tree.is) {
    case 'and':
    case 'or':
      return tree.parts.reduce((sum, part) => sum + estimateCost(part), 0);
    case 'not':
      return estimateCost(tree.part);
    default: {
      const itemCost = tree.values.reduce(
        (sum, { test }) => sum + (test.is === 'regex' ? test.regex.weight : test.is === 'network' ? 5 : 1),
        1,
      );
      return tree.names.length === 0 ? itemCost * 20 : itemCost;
    }
  }
};

/** Returns a predicate of the tree over the current event. */
export const createPredicate = (tree: RuleTree, view: EventView): Predicate => {
  if (tree.is === 'item') return createItemPredicate(tree, view);
  if (tree.is === 'not') {
    const part = createPredicate(tree.part, view);
    return () => !part();
  }
  const parts = tree.parts
    .toSorted((left, right) => estimateCost(left) - estimateCost(right))
    .map((part) => createPredicate(part, view));
  const decidingValue = tree.is === 'or';
  const [first, second, third] = parts;
  if (first !== undefined && second === undefined) return first;
  if (first !== undefined && second !== undefined && third === undefined)
    return decidingValue ? () => first() || second() : () => first() && second();
  return () => {
    for (let index = 0; index < parts.length; index++)
      if ((parts[index] as Predicate)() === decidingValue) return decidingValue;
    return !decidingValue;
  };
};

/** A field that matched, with the condition */
export interface MatchedField {
  /** Name of the field in the rule; empty for keywords */
  readonly field: string;
  /** Path of the field in the event */
  readonly path: string;
  readonly value: string;
  readonly selection: string;
  /** Condition as the rule states it: `endswith \cmd.exe` */
  readonly condition: string;
}

const maxDisplayLength = 500;
const truncate = (text: string): string =>
  text.length > maxDisplayLength ? `${text.slice(0, maxDisplayLength)}…` : text;

/** Formats a test of a field as the rule states it. */
const formatTest = ({ modifiers }: ItemTest, valueText: string): string =>
  truncate(modifiers === '' ? valueText : `${modifiers} ${valueText}`);

const describeMatch = (item: ItemTest, view: EventView): MatchedField[] => {
  const { field, selection, values } = item;
  const leaves = item.names.length === 0 ? view.leaves : toLeafList(view.findOther(item.names));
  const hasTest = (testKind: 'exists' | 'null'): boolean => values.some(({ test }) => test.is === testKind);
  if (item.isNegated || hasTest('exists')) {
    const { path = '', text = '' } = leaves[0] ?? {};
    return [
      {
        field,
        path,
        value: truncate(text),
        selection,
        condition: formatTest(item, values.map((value) => value.ruleText).join(', ')),
      },
    ];
  }
  for (const leaf of leaves.filter(({ isNull }) => !isNull)) {
    const matchedValue = values.find(({ test }) => createLeafTest(test)(leaf, view.findOther));
    if (matchedValue !== undefined)
      return [
        {
          field,
          path: leaf.path,
          value: truncate(leaf.text),
          selection,
          condition: formatTest(item, matchedValue.ruleText),
        },
      ];
  }
  return hasTest('null') ? [{ field, path: '', value: '', selection, condition: 'null' }] : [];
};

const toLeafList = (first: EventValue | undefined): EventValue[] => {
  const leaves: EventValue[] = [];
  for (let leaf = first; leaf !== undefined; leaf = leaf.next) leaves.push(leaf);
  return leaves;
};

/** Returns the fields by which the current event matched, without those under a `not`. */
export const findMatchedFields = (tree: RuleTree, view: EventView): MatchedField[] => {
  if (tree.is === 'not') return [];
  if (tree.is === 'item') return describeMatch(tree, view);
  const parts = tree.is === 'and' ? tree.parts : tree.parts.filter((part) => createPredicate(part, view)());
  const seenKeys = new Set<string>();
  return parts
    .flatMap((part) => findMatchedFields(part, view))
    .filter(({ field, path, condition }) => {
      const key = `${field}\n${path}\n${condition}`;
      return seenKeys.has(key) ? false : seenKeys.add(key);
    });
};
