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
    if (names.some((name, at) => at > 0 && name < (names[at - 1] as string))) names.sort();
    return new LabelSet(
      names,
      names.map((name) => labels[name] as string),
    );
  }

  get key(): string {
    this.#key ??= this.names.map((name, at) => `${name}\u0000${this.values[at]}`).join('\u0001');
    return this.#key;
  }

  get(name: string): string {
    const at = this.names.indexOf(name);
    return at < 0 ? '' : (this.values[at] as string);
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
    const included = this.names.map(isIncluded);
    return new LabelSet(
      this.names.filter((_, at) => included[at]),
      this.values.filter((_, at) => included[at]),
    );
  }

  toRecord(): Record<string, string> {
    return Object.fromEntries(this.names.map((name, at) => [name, this.values[at] as string]));
  }

  /** Formats the labels as Prometheus does in messages. */
  toString(): string {
    const each = this.names.map((name, at) => {
      const formattedName = unquotedNamePattern.test(name) ? name : quoteText(name);
      return `${formattedName}=${quoteText(this.values[at] as string)}`;
    });
    return `{${each.join(', ')}}`;
  }
}

/** Compares labels by name and value from the first one on: the order of Prometheus' answers. */
export const compareLabels = (left: LabelSet, right: LabelSet): number => {
  const length = Math.min(left.names.length, right.names.length);
  for (let at = 0; at < length; at++) {
    const name = compareText(left.names[at] as string, right.names[at] as string);
    if (name !== 0) return name;
    const value = compareText(left.values[at] as string, right.values[at] as string);
    if (value !== 0) return value;
  }
  return left.names.length - right.names.length;
};

/** Sorts labeled items by their labels. */
export const sortByLabels = <Labelled extends { readonly labels: Labels }>(all: Iterable<Labelled>): Labelled[] =>
  Array.from(all, (one) => ({ one, labels: LabelSet.from(one.labels) }))
    .sort((left, right) => compareLabels(left.labels, right.labels))
    .map(({ one }) => one);

const compareText = (left: string, right: string): number => {
  if (left === right) return 0;
  return left < right ? -1 : 1;
};
