import type { Labels } from '../series.ts';
import { quoteText } from '../syntax/quotes.ts';

const metadataLabels = new Set(['__name__', '__type__', '__unit__']);
const unquotedNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Labels of a series ordered by name. Equal sets have equal keys. */
export class LabelSet {
  static readonly empty = new LabelSet([], []);
  readonly names: readonly string[];
  readonly values: readonly string[];
  #key: string | undefined;
  #withoutMetadata: LabelSet | undefined;

  constructor(names: readonly string[], values: readonly string[]) {
    this.names = names;
    this.values = values;
  }

  static from(labels: Labels): LabelSet {
    const names = Object.keys(labels).filter((name) => labels[name] !== '');
    if (names.some((name, index) => index > 0 && name < (names[index - 1] as string))) names.sort();
    return new LabelSet(
      names,
      names.map((name) => labels[name] as string),
    );
  }

  get key(): string {
    this.#key ??= this.names.map((name, index) => `${name}\u0000${this.values[index]}`).join('\u0001');
    return this.#key;
  }

  get(name: string): string {
    const index = this.names.indexOf(name);
    return index < 0 ? '' : (this.values[index] as string);
  }

  /** The labels without the metric's name, type and unit. */
  get withoutMetadata(): LabelSet {
    this.#withoutMetadata ??= this.names.some((name) => metadataLabels.has(name))
      ? this.#filter((name) => !metadataLabels.has(name))
      : this;
    return this.#withoutMetadata;
  }

  without(names: readonly string[]): LabelSet {
    return names.some((name) => this.names.includes(name)) ? this.#filter((name) => !names.includes(name)) : this;
  }

  pick(names: readonly string[]): LabelSet {
    return this.#filter((name) => names.includes(name));
  }

  /** Returns the labels with another value; an empty value removes the label. */
  with(name: string, value: string): LabelSet {
    if (value === '') return this.without([name]);
    const labels = this.toRecord();
    return LabelSet.from({ ...labels, [name]: value });
  }

  #filter(isIncluded: (name: string) => boolean): LabelSet {
    const isIncludedByIndex = this.names.map(isIncluded);
    return new LabelSet(
      this.names.filter((_, index) => isIncludedByIndex[index]),
      this.values.filter((_, index) => isIncludedByIndex[index]),
    );
  }

  toRecord(): Record<string, string> {
    return Object.fromEntries(this.names.map((name, index) => [name, this.values[index] as string]));
  }

  /** Formats the labels as Prometheus does in messages. */
  toString(): string {
    const labelTexts = this.names.map((name, index) => {
      const formattedName = unquotedNamePattern.test(name) ? name : quoteText(name);
      return `${formattedName}=${quoteText(this.values[index] as string)}`;
    });
    return `{${labelTexts.join(', ')}}`;
  }
}

/** Compares labels by name and value, starting with the first one: the order of Prometheus' results. */
export const compareLabels = (left: LabelSet, right: LabelSet): number => {
  const length = Math.min(left.names.length, right.names.length);
  for (let index = 0; index < length; index++) {
    const nameOrder = compareText(left.names[index] as string, right.names[index] as string);
    if (nameOrder !== 0) return nameOrder;
    const value = compareText(left.values[index] as string, right.values[index] as string);
    if (value !== 0) return value;
  }
  return left.names.length - right.names.length;
};

/** Sorts labeled items by their labels. */
export const sortByLabels = <Item extends { readonly labels: Labels }>(items: Iterable<Item>): Item[] =>
  Array.from(items, (item) => ({ one: item, labels: LabelSet.from(item.labels) }))
    .sort((left, right) => compareLabels(left.labels, right.labels))
    .map(({ one: item }) => item);

const compareText = (left: string, right: string): number => {
  if (left === right) return 0;
  return left < right ? -1 : 1;
};
