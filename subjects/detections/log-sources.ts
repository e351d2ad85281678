/** Determines the log source of an event from the field tables, and whether a rule applies to it. */
import { addToList } from '../../schemas/add-to-list.ts';
import type { LogSource } from './documents.ts';
import type { EventValue, SigmaEvent } from './event.ts';
import { type EventCondition, type EventSource, type FieldTable, foldName } from './fields/table.ts';

/** Known log source of an event. An unknown part may be anything. */
export interface EventKind {
  readonly key: string;
  readonly products: ReadonlySet<string>;
  readonly services: ReadonlySet<string>;
  /** `undefined` if the categories are unknown */
  readonly categories: ReadonlySet<string> | undefined;
}

interface TestedValues {
  readonly names: readonly string[];
  readonly values: ReadonlyMap<string, number>;
  readonly prefixes: readonly string[];
}

/** Tests for the values at a position of events, by name */
interface PositionTests {
  readonly place: number;
  readonly tests: readonly { readonly name: string; readonly testedValues: TestedValues }[];
}

const maxKinds = 10_000;

const toLowerValue = (value: string): string => value.toLowerCase();

const hasValue = (event: SigmaEvent, { names, values }: EventCondition): boolean => {
  for (const name of names) {
    const leaf = event.get(foldName(name));
    if (leaf === undefined) continue;
    if (values === undefined) return true;
    return values.some((value) =>
      value.endsWith('*')
        ? leaf.foldedText.startsWith(toLowerValue(value.slice(0, -1)))
        : leaf.foldedText === toLowerValue(value),
    );
  }
  return false;
};

const noTests: PositionTests = { place: 0, tests: [] };

/** Returns which of the tested values a value matches. */
const matchSignature = ({ values, prefixes }: TestedValues, low: string): string => {
  const prefix = prefixes.findIndex((value) => low.startsWith(value));
  return `${values.get(low) ?? '+'}${prefix < 0 ? '' : `p${prefix}`}`;
};

export class LogSources {
  readonly #sources: readonly EventSource[];
  /** Tested values by name */
  readonly #byName = new Map<string, TestedValues[]>();
  /** Tests by the names of a position, which events share */
  readonly #testsByNames = new WeakMap<readonly string[], PositionTests>();
  #lastPosition = 0;
  readonly #kinds = new Map<string, EventKind>();
  readonly #byKey = new Map<string, EventKind>();

  constructor(tables: readonly FieldTable[]) {
    this.#sources = tables.flatMap(({ sources = [] }) => sources);
    const byNames = new Map<string, { names: readonly string[]; values: Map<string, number>; prefixes: Set<string> }>();
    const addTest = (names: readonly string[], values: readonly string[]): void => {
      const key = names.join('\n');
      const existing = byNames.get(key) ?? {
        names: names.map(foldName),
        values: new Map(),
        prefixes: new Set<string>(),
      };
      byNames.set(key, existing);
      for (const value of values)
        if (value.endsWith('*')) existing.prefixes.add(toLowerValue(value.slice(0, -1)));
        else if (!existing.values.has(toLowerValue(value)))
          existing.values.set(toLowerValue(value), existing.values.size);
    };
    for (const { when, categories } of this.#sources) {
      for (const { names, values = [] } of when) addTest(names, values);
      if (categories !== undefined) addTest(categories.names, Object.keys(categories.by));
    }
    for (const { prefixes, ...rest } of byNames.values()) {
      const of = { ...rest, prefixes: [...prefixes] };
      for (const name of of.names) addToList(this.#byName, name, of);
    }
  }

  /** Returns whether the result may depend on values of a folded name. */
  tests(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Returns all folded names on which the result may depend. */
  get testedNames(): Iterable<string> {
    return this.#byName.keys();
  }

  /** Returns the log source of an event as far as the tables define it. Equal kinds are the same object. */
  classify(event: SigmaEvent): EventKind {
    const signature = this.#createSignature(event);
    const existing = this.#kinds.get(signature);
    if (existing !== undefined) return existing;
    if (this.#kinds.size >= maxKinds) this.#kinds.clear();
    const createdKind = this.#createKind(event);
    const kind = this.#byKey.get(createdKind.key) ?? createdKind;
    this.#byKey.set(kind.key, kind);
    this.#kinds.set(signature, kind);
    return kind;
  }

  /**
   * Returns a key of everything on which the result depends: the positions of tested values, and the tests that they
   * match.
   */
  #createSignature(event: SigmaEvent): string {
    let signature = '';
    const { leaves } = event;
    for (let index = 0; index < leaves.length; index++) {
      const leaf = leaves[index] as EventValue;
      const { place, tests } = this.#findTests(leaf.names);
      for (let number = 0; number < tests.length; number++) {
        const { name, testedValues } = tests[number] as PositionTests['tests'][number];
        if (event.get(name) === leaf)
          signature += `${place}.${number}${matchSignature(testedValues, leaf.foldedText)},`;
      }
    }
    return signature;
  }

  #findTests(names: readonly string[]): PositionTests {
    const existing = this.#testsByNames.get(names);
    if (existing !== undefined) return existing;
    const tests = names.flatMap((name) =>
      (this.#byName.get(name) ?? []).map((testedValues) => ({ name, testedValues })),
    );
    const made = tests.length === 0 ? noTests : { place: ++this.#lastPosition, tests };
    this.#testsByNames.set(names, made);
    return made;
  }

  #createKind(event: SigmaEvent): EventKind {
    const matchingSources = this.#sources.filter(({ when }) => when.every((condition) => hasValue(event, condition)));
    const collectPart = (part: keyof LogSource): string[] => matchingSources.flatMap(({ is }) => is[part] ?? []);
    const products = new Set(collectPart('product'));
    const services = new Set(collectPart('service'));
    const isKnown = matchingSources.some(({ is, categories }) => is.category !== undefined || categories !== undefined);
    const categories = isKnown
      ? new Set([...collectPart('category'), ...matchingSources.flatMap((source) => findCategories(source, event))])
      : undefined;
    const key = [products, services, categories]
      .map((set) => (set === undefined ? '?' : [...set].sort().join(' ')))
      .join('|');
    return { key, products, services, categories };
  }
}

const findCategories = ({ categories }: EventSource, event: SigmaEvent): readonly string[] => {
  const leaf = categories?.names.map((name) => event.get(foldName(name))).find((each) => each !== undefined);
  return categories?.by[leaf?.foldedText ?? ''] ?? [];
};

/** Returns whether an event of a kind may belong to the log source of a rule. Unknown parts match anything. */
export const mayMatchLogSource = (
  { products, services, categories }: EventKind,
  { product, category, service }: LogSource,
): boolean => {
  if (product !== undefined && products.size > 0 && !products.has(product)) return false;
  if (category !== undefined && categories !== undefined && !categories.has(category)) return false;
  return service === undefined || services.size === 0 || services.has(service);
};

/** Returns how much of a rule's log source is known for a kind of event that may belong to it. */
export const getLogSourceCertainty = (
  { products, services, categories }: EventKind,
  { product, category, service }: LogSource,
): 'all' | 'some' | 'none' => {
  const partMatches = [
    product === undefined ? undefined : products.has(product),
    service === undefined ? undefined : services.has(service),
    category === undefined ? undefined : categories?.has(category) === true,
  ].filter((each) => each !== undefined);
  if (!partMatches.includes(true)) return 'none';
  return partMatches.includes(false) ? 'some' : 'all';
};
