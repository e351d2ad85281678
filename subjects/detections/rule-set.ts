/** Rules that are ready to run: one pass over an event answers all that it matches. */
import type { LogSource, SigmaCorrelation, SigmaDocument, SigmaFilter, SigmaRule } from './documents.ts';
import { EventPaths, SigmaEvent } from './event.ts';
import type { FieldTable } from './fields/table.ts';
import { type EventKind, knownOf, LogSources, mayBe } from './log-sources.ts';
import { costOf, EventView, type MatchedField, matchedFields, type Predicate, predicateOf } from './predicate.ts';
import { regexWork } from './regex.ts';
import { type Clause, clausesOf } from './required-literals.ts';
import { RuleIndex } from './rule-index.ts';
import { detectionTree, itemsOf, placeholdersOf } from './rule-tree.ts';
import type { RuleTree } from './tree.ts';

/** A document as it is deployed. */
export interface DeployedRule {
  /** What signals name it by. */
  readonly id: string;
  readonly version: number;
  readonly document: SigmaDocument;
  /** Records of unknown log sources are asked as if they were of its own. */
  readonly anySource?: boolean;
}

export interface CompileOptions {
  /** What placeholders (`%admins%`) stand for. */
  readonly placeholders?: Readonly<Record<string, readonly string[]>>;
}

/** A rule and an event that it matches. */
export interface Match {
  readonly ruleId: string;
  readonly version: number;
  readonly rule: SigmaRule;
  readonly fields: readonly MatchedField[];
}

/** Looks on while rules are asked. */
export interface Watch {
  /** Rules that are not asked. */
  isOff(ruleId: string, version: number): boolean;
  /** What asking a rule took: about so many characters that were looked at. The same event and rule always take the same. */
  spent(ruleId: string, version: number, characters: number): void;
  /** Which kind an event is of, before rules are asked. */
  saw(kind: EventKind, event: SigmaEvent): void;
}
const watchNothing: Watch = { isOff: () => false, spent: () => {}, saw: () => {} };

/** A rule that is ready to be run. */
interface Compiled {
  readonly id: string;
  readonly version: number;
  readonly rule: SigmaRule;
  readonly tree: RuleTree;
  readonly clauses: readonly Clause[];
  readonly predicate: Predicate;
  /** What asking it takes, without its expressions, in characters. */
  readonly cost: number;
  /** Names of all fields that it names. */
  readonly names: readonly string[];
  readonly anySource: boolean;
}

/** A rule for events of some kind. */
interface CandidateRule {
  readonly compiled: Compiled;
  /** Not all of its log source is known of such events: one that matches must have a field that the rule names. */
  readonly needsField: boolean;
}

/** Rules that an event of some kind may match, by number. */
interface Group {
  readonly rules: readonly CandidateRule[];
  readonly index: RuleIndex;
}

/** What is known of an event before it is made. */
export interface PrefilterResult {
  readonly kind: EventKind;
  /** Numbers of the rules, among those for its kind, that it may match. */
  readonly candidates: readonly number[];
}

/** What makes rules worth asking: values of some names, and texts wherever they are. */
export interface Interest {
  readonly index: RuleIndex;
  /** Whether an event has a field that lets a rule be asked which has nothing else to be found by. */
  isAlways(event: SigmaEvent): boolean;
  /** Folded names of a value, by the name that the event has for it. */
  namesOf(key: string): readonly string[];
  /** Whether a value of a folded name may tell the kind, or let a rule match that has nothing else to be found by. */
  affectsRules(name: string): boolean;
}

/** Kinds of events for which an index is kept. */
const maxGroups = 256;

const isNamed = (names: readonly string[], { id, document }: DeployedRule): boolean =>
  names.includes(id) ||
  (document.id !== '' && names.includes(document.id)) ||
  (document.name !== '' && names.includes(document.name));

const covers = (filter: LogSource, rule: LogSource): boolean =>
  (['product', 'category', 'service'] as const).every(
    (part) => filter[part] === undefined || filter[part] === rule[part],
  );

const trees = new WeakMap<
  SigmaDocument,
  {
    readonly tables: readonly FieldTable[];
    readonly placeholders: object | undefined;
    readonly tree: RuleTree;
    readonly clauses: readonly Clause[];
    readonly names: readonly string[];
  }
>();

const treeOf = (document: SigmaRule | SigmaFilter, tables: readonly FieldTable[], { placeholders }: CompileOptions) => {
  const known = trees.get(document);
  if (known !== undefined && known.tables === tables && known.placeholders === placeholders) return known;
  const { logsource, detection } = document;
  const tree = detectionTree(detection, { logsource, tables, placeholders: placeholders ?? {} });
  const names = [...new Set(itemsOf(tree).flatMap((item) => item.names))];
  const made = { tables, placeholders, tree, clauses: clausesOf(tree), names };
  trees.set(document, made);
  return made;
};

export class RuleSet {
  readonly #paths: EventPaths;
  readonly #sources: LogSources;
  readonly #view = new EventView();
  readonly #rules: readonly Compiled[];
  readonly #groups = new Map<string, Group>();
  /** The correlations among the documents. */
  readonly correlations: readonly (DeployedRule & { readonly document: SigmaCorrelation })[];

  constructor(deployed: readonly DeployedRule[], tables: readonly FieldTable[], options: CompileOptions = {}) {
    this.#paths = new EventPaths(tables);
    this.#sources = new LogSources(tables);
    const filters = deployed.map(({ document }) => document).filter((document) => document.kind === 'filter');
    this.correlations = deployed.filter(
      (each): each is RuleSet['correlations'][number] => each.document.kind === 'correlation',
    );
    this.#rules = deployed.flatMap((each) => {
      const { document, id, version, anySource = false } = each;
      if (document.kind !== 'rule') return [];
      const own = treeOf(document, tables, options);
      const narrowing = filters
        .filter(
          ({ rules, logsource }) => covers(logsource, document.logsource) && (rules === 'any' || isNamed(rules, each)),
        )
        // A filter asks for fields as the rule that it narrows does.
        .map(({ detection }) =>
          detectionTree(detection, { logsource: document.logsource, tables, placeholders: options.placeholders ?? {} }),
        );
      const tree: RuleTree = narrowing.length === 0 ? own.tree : { is: 'and', parts: [own.tree, ...narrowing] };
      const clauses = [...own.clauses, ...narrowing.flatMap(clausesOf)];
      return [
        {
          id,
          version,
          rule: document,
          tree,
          clauses,
          predicate: predicateOf(tree, this.#view),
          cost: 20 * costOf(tree),
          names: own.names,
          anySource,
        },
      ];
    });
  }

  /** How many rules it holds. */
  get size(): number {
    return this.#rules.length;
  }

  /** An event without values, to be filled. */
  newEvent(): SigmaEvent {
    return new SigmaEvent(this.#paths);
  }

  /** An event as its source logs it. */
  eventOf(object: object): SigmaEvent {
    return this.newEvent().addObject(object);
  }

  /** What the tables know of where an event comes from. */
  kindOf(event: SigmaEvent): EventKind {
    return this.#sources.kindOf(event);
  }

  /** What an event of a kind has, at the least, if a rule may match it. Undefined where a rule may match any. */
  interestIn(kind: EventKind): Interest | undefined {
    const { rules, index } = this.#group(kind);
    const always = index.always.map((number) => rules[number] as CandidateRule);
    if (always.some(({ needsField }) => !needsField)) return undefined;
    const decisiveNames = new Set(always.flatMap(({ compiled }) => compiled.names));
    return {
      index,
      isAlways: ({ leaves }) => leaves.some(({ names }) => names.some((name) => decisiveNames.has(name))),
      namesOf: (key) => this.#paths.namesOf(key),
      affectsRules: (name) => this.#sources.tests(name) || decisiveNames.has(name),
    };
  }

  /** All rules that an event matches, in their order. What is told of it already is not looked for again. */
  match(given: SigmaEvent | object, watch: Watch = watchNothing, prefiltered?: PrefilterResult): Match[] {
    const event = given instanceof SigmaEvent ? given : this.eventOf(given);
    const kind = prefiltered?.kind ?? this.#sources.kindOf(event);
    watch.saw(kind, event);
    const { rules, index } = this.#group(kind);
    const candidates = prefiltered?.candidates ?? index.candidates(event);
    if (candidates.length === 0) return [];
    this.#view.at(event);
    const matches: number[] = [];
    for (let at = 0; at < candidates.length; at++) {
      const number = candidates[at] as number;
      const { compiled, needsField } = rules[number] as CandidateRule;
      if (watch.isOff(compiled.id, compiled.version)) continue;
      const before = regexWork.characters;
      const isMatch = compiled.predicate() && !(needsField && this.#view.other(compiled.names) === undefined);
      if (isMatch) matches.push(number);
      watch.spent(compiled.id, compiled.version, compiled.cost + (regexWork.characters - before));
    }
    return matches
      .sort((left, right) => left - right)
      .map((number) => {
        const { id, version, rule, tree } = (rules[number] as CandidateRule).compiled;
        return { ruleId: id, version, rule, fields: matchedFields(tree, this.#view) };
      });
  }

  /** How many rules are looked at for an event, of those that may be about it. For measurements. */
  candidates(event: SigmaEvent): { readonly checked: number; readonly of: number } {
    const { rules, index } = this.#group(this.#sources.kindOf(event));
    return { checked: index.candidates(event).length, of: rules.length };
  }

  /** The text of the first value that an event has under a field of a rule. */
  valueOf(event: SigmaEvent, names: readonly string[]): string | undefined {
    this.#view.at(event);
    const leaf = this.#view.other(names);
    return leaf === undefined || leaf.isNull ? undefined : leaf.text;
  }

  #group(kind: EventKind): Group {
    const known = this.#groups.get(kind.key);
    if (known !== undefined) return known;
    const rules = this.#rules.flatMap((compiled): CandidateRule[] => {
      const { logsource } = compiled.rule;
      if (!mayBe(kind, logsource)) return [];
      const known = compiled.anySource ? 'all' : knownOf(kind, logsource);
      // Of keywords alone, everything that is written is text: at least something of where it comes from must be known.
      if (known === 'none' && compiled.names.length === 0) return [];
      return [{ compiled, needsField: known !== 'all' && compiled.names.length > 0 }];
    });
    const always = rules.filter(({ compiled }) => compiled.clauses.length === 0);
    const decisiveNames = [...this.#sources.testedNames, ...always.flatMap(({ compiled }) => compiled.names)];
    const clauses = rules.map(({ compiled }) => compiled.clauses);
    const group = { rules, index: new RuleIndex(clauses, decisiveNames) };
    if (this.#groups.size >= maxGroups) this.#groups.clear();
    this.#groups.set(kind.key, group);
    return group;
  }
}

/** What a rule needs to be able to match. */
export interface Needs {
  readonly logsource: LogSource;
  /** Each field with the names under which events may have it. */
  readonly fields: readonly { readonly field: string; readonly names: readonly string[] }[];
  readonly placeholders: readonly string[];
  /** What asking it costs, in comparisons of a value. */
  readonly cost: number;
  /** It matches an event without any value. */
  readonly matchesNothing: boolean;
}

/** Which log source, fields and placeholders a rule or filter asks for. */
export const needsOf = (rule: SigmaRule | SigmaFilter, tables: readonly FieldTable[]): Needs => {
  const { tree } = treeOf(rule, tables, {});
  const fields = new Map(itemsOf(tree).map(({ field, names }) => [field, names]));
  fields.delete('');
  return {
    logsource: rule.logsource,
    fields: [...fields].map(([field, names]) => ({ field, names })),
    placeholders: placeholdersOf(rule.detection),
    cost: costOf(tree),
    matchesNothing: predicateOf(tree, new EventView())(),
  };
};

/** Makes documents ready to run over events. Filters narrow the rules beside them; correlations are kept for what keeps windows. */
export const compile = (
  rules: readonly DeployedRule[],
  tables: readonly FieldTable[],
  options: CompileOptions = {},
): RuleSet => new RuleSet(rules, tables, options);
