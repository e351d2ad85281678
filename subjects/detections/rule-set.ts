/** Compiled rules: one pass over an event returns all matches */
import type { LogSource, SigmaCorrelation, SigmaDocument, SigmaFilter, SigmaRule } from './documents.ts';
import { EventPaths, SigmaEvent } from './event.ts';
import type { FieldTable } from './fields/table.ts';
import { type EventKind, getLogSourceCertainty, LogSources, mayMatchLogSource } from './log-sources.ts';
import {
  createPredicate,
  EventView,
  estimateCost,
  findMatchedFields,
  type MatchedField,
  type Predicate,
} from './predicate.ts';
import { examinedCharacters } from './regex.ts';
import { type Clause, findClauses } from './required-literals.ts';
import { RuleIndex } from './rule-index.ts';
import { buildDetectionTree, collectItems, findPlaceholders } from './rule-tree.ts';
import type { RuleTree } from './tree.ts';

/** A deployed document */
export interface DeployedRule {
  /** Id that signals reference */
  readonly id: string;
  readonly version: number;
  readonly document: SigmaDocument;
  /** Whether records of unknown log sources are treated as those of the rule's log source */
  readonly anySource?: boolean;
}

export interface CompileOptions {
  /** Values of placeholders such as `%admins%` */
  readonly placeholders?: Readonly<Record<string, readonly string[]>>;
}

/** A rule and the event that it matches */
export interface Match {
  readonly ruleId: string;
  readonly version: number;
  readonly rule: SigmaRule;
  readonly fields: readonly MatchedField[];
}

/** Observes the evaluation of rules */
export interface EvaluationObserver {
  /** Returns whether a rule is switched off. */
  isOff(ruleId: string, version: number): boolean;
  /**
   * Reports the cost of an evaluation, in approximate characters examined. The cost of an event and rule is
   * deterministic.
   */
  onRuleCost(ruleId: string, version: number, characters: number): void;
  /** Reports the kind of an event, before rules are evaluated. */
  onEventKind(kind: EventKind, event: SigmaEvent): void;
}
const noOpObserver: EvaluationObserver = { isOff: () => false, onRuleCost: () => {}, onEventKind: () => {} };

/** A compiled rule */
interface CompiledRule {
  readonly id: string;
  readonly version: number;
  readonly rule: SigmaRule;
  readonly tree: RuleTree;
  readonly clauses: readonly Clause[];
  readonly predicate: Predicate;
  /** Cost of an evaluation without its regular expressions, in characters */
  readonly cost: number;
  /** Names of all fields that the rule references */
  readonly names: readonly string[];
  readonly anySource: boolean;
}

/** A rule for events of one kind */
interface CandidateRule {
  readonly compiled: CompiledRule;
  /**
   * Whether part of the log source is unknown for these events. A matching event must then have a field that the rule
   * names.
   */
  readonly needsField: boolean;
}

/** Rules that an event of one kind may match, by number */
interface RuleGroup {
  readonly rules: readonly CandidateRule[];
  readonly index: RuleIndex;
}

/** Result of the prefilter, before the event is built */
export interface PrefilterResult {
  readonly kind: EventKind;
  /** Numbers of the rules of its kind that it may match */
  readonly candidates: readonly number[];
}

/** Conditions under which rules must be evaluated: values of some names, and texts anywhere */
export interface PrefilterConditions {
  readonly index: RuleIndex;
  /** Returns whether an event has a field that enables a rule without required literals. */
  isAlways(event: SigmaEvent): boolean;
  /** Returns the folded names of a value by its name in the event. */
  getNames(key: string): readonly string[];
  /** Returns whether a value of a folded name may determine the kind, or enable a rule without required literals. */
  canAffectRules(name: string): boolean;
}

/** Maximum number of kinds of events with a cached index */
const maxGroups = 256;

const isReferenced = (names: readonly string[], { id, document }: DeployedRule): boolean =>
  names.includes(id) ||
  (document.id !== '' && names.includes(document.id)) ||
  (document.name !== '' && names.includes(document.name));

const appliesToSource = (filter: LogSource, rule: LogSource): boolean =>
  (['product', 'category', 'service'] as const).every(
    (part) => filter[part] === undefined || filter[part] === rule[part],
  );

const treeCache = new WeakMap<
  SigmaDocument,
  {
    readonly tables: readonly FieldTable[];
    readonly placeholders: object | undefined;
    readonly tree: RuleTree;
    readonly clauses: readonly Clause[];
    readonly names: readonly string[];
  }
>();

const getTree = (
  document: SigmaRule | SigmaFilter,
  tables: readonly FieldTable[],
  { placeholders }: CompileOptions,
) => {
  const cachedTree = treeCache.get(document);
  if (cachedTree !== undefined && cachedTree.tables === tables && cachedTree.placeholders === placeholders)
    return cachedTree;
  const { logsource, detection } = document;
  const tree = buildDetectionTree(detection, { logsource, tables, placeholders: placeholders ?? {} });
  const names = [...new Set(collectItems(tree).flatMap((item) => item.names))];
  const compiledTree = { tables, placeholders, tree, clauses: findClauses(tree), names };
  treeCache.set(document, compiledTree);
  return compiledTree;
};

export class RuleSet {
  readonly #paths: EventPaths;
  readonly #sources: LogSources;
  readonly #view = new EventView();
  readonly #rules: readonly CompiledRule[];
  readonly #groups = new Map<string, RuleGroup>();
  /** The correlations among the documents */
  readonly correlations: readonly (DeployedRule & { readonly document: SigmaCorrelation })[];

  constructor(deployed: readonly DeployedRule[], tables: readonly FieldTable[], options: CompileOptions = {}) {
    this.#paths = new EventPaths(tables);
    this.#sources = new LogSources(tables);
    const filters = deployed.map(({ document }) => document).filter((document) => document.kind === 'filter');
    this.correlations = deployed.filter(
      (deployedDocument): deployedDocument is RuleSet['correlations'][number] =>
        deployedDocument.document.kind === 'correlation',
    );
    this.#rules = deployed.flatMap((deployedRule) => {
      const { document, id, version, anySource = false } = deployedRule;
      if (document.kind !== 'rule') return [];
      const ruleTree = getTree(document, tables, options);
      const filterTrees = filters
        .filter(
          ({ rules, logsource }) =>
            appliesToSource(logsource, document.logsource) && (rules === 'any' || isReferenced(rules, deployedRule)),
        )
        // A filter uses the same field names as the rule that it narrows.
        .map(({ detection }) =>
          buildDetectionTree(detection, {
            logsource: document.logsource,
            tables,
            placeholders: options.placeholders ?? {},
          }),
        );
      const tree: RuleTree =
        filterTrees.length === 0 ? ruleTree.tree : { is: 'and', parts: [ruleTree.tree, ...filterTrees] };
      const clauses = [...ruleTree.clauses, ...filterTrees.flatMap(findClauses)];
      return [
        {
          id,
          version,
          rule: document,
          tree,
          clauses,
          predicate: createPredicate(tree, this.#view),
          cost: 20 * estimateCost(tree),
          names: ruleTree.names,
          anySource,
        },
      ];
    });
  }

  /** Number of rules */
  get size(): number {
    return this.#rules.length;
  }

  /** Returns an empty event to fill. */
  newEvent(): SigmaEvent {
    return new SigmaEvent(this.#paths);
  }

  /** Returns an event from an object as its source logs it. */
  createEvent(object: object): SigmaEvent {
    return this.newEvent().addObject(object);
  }

  /** Returns the log source of an event as far as the tables define it. */
  classifyEvent(event: SigmaEvent): EventKind {
    return this.#sources.classify(event);
  }

  /**
   * Returns the minimum that an event of a kind has if a rule may match it; `undefined` if a rule may match any event.
   */
  getPrefilterConditions(kind: EventKind): PrefilterConditions | undefined {
    const { rules, index } = this.#getGroup(kind);
    const always = index.always.map((number) => rules[number] as CandidateRule);
    if (always.some(({ needsField }) => !needsField)) return undefined;
    const decisiveNames = new Set(always.flatMap(({ compiled }) => compiled.names));
    return {
      index,
      isAlways: ({ leaves }) => leaves.some(({ names }) => names.some((name) => decisiveNames.has(name))),
      getNames: (key) => this.#paths.getNames(key),
      canAffectRules: (name) => this.#sources.tests(name) || decisiveNames.has(name),
    };
  }

  /** Returns all rules that an event matches, in their order. A prefilter result is reused. */
  match(
    eventOrObject: SigmaEvent | object,
    observer: EvaluationObserver = noOpObserver,
    prefilterResult?: PrefilterResult,
  ): Match[] {
    const event = eventOrObject instanceof SigmaEvent ? eventOrObject : this.createEvent(eventOrObject);
    const kind = prefilterResult?.kind ?? this.#sources.classify(event);
    observer.onEventKind(kind, event);
    const { rules, index } = this.#getGroup(kind);
    const candidates = prefilterResult?.candidates ?? index.findCandidates(event);
    if (candidates.length === 0) return [];
    this.#view.setEvent(event);
    const matches: number[] = [];
    for (let index = 0; index < candidates.length; index++) {
      const number = candidates[index] as number;
      const { compiled, needsField } = rules[number] as CandidateRule;
      if (observer.isOff(compiled.id, compiled.version)) continue;
      // A difference of running totals would depend on the total, because weights are not whole numbers.
      examinedCharacters.characters = 0;
      const isMatch = compiled.predicate() && !(needsField && this.#view.findOther(compiled.names) === undefined);
      if (isMatch) matches.push(number);
      observer.onRuleCost(compiled.id, compiled.version, compiled.cost + examinedCharacters.characters);
    }
    return matches
      .sort((left, right) => left - right)
      .map((number) => {
        const { id, version, rule, tree } = (rules[number] as CandidateRule).compiled;
        return { ruleId: id, version, rule, fields: findMatchedFields(tree, this.#view) };
      });
  }

  /** Returns how many rules are evaluated for an event, of those that may apply to it. For measurements. */
  candidates(event: SigmaEvent): { readonly checked: number; readonly total: number } {
    const { rules, index } = this.#getGroup(this.#sources.classify(event));
    return { checked: index.findCandidates(event).length, total: rules.length };
  }

  /** Returns the text of the first value of an event under a field of a rule. */
  getValue(event: SigmaEvent, names: readonly string[]): string | undefined {
    this.#view.setEvent(event);
    const leaf = this.#view.findOther(names);
    return leaf === undefined || leaf.isNull ? undefined : leaf.text;
  }

  #getGroup(kind: EventKind): RuleGroup {
    const existing = this.#groups.get(kind.key);
    if (existing !== undefined) return existing;
    const rules = this.#rules.flatMap((compiled): CandidateRule[] => {
      const { logsource } = compiled.rule;
      if (!mayMatchLogSource(kind, logsource)) return [];
      const certainty = compiled.anySource ? 'all' : getLogSourceCertainty(kind, logsource);
      // Keyword-only rules could match any text, so at least part of the log source must be known.
      if (certainty === 'none' && compiled.names.length === 0) return [];
      return [{ compiled, needsField: certainty !== 'all' && compiled.names.length > 0 }];
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

/** Data that a rule needs to be able to match */
export interface RuleRequirements {
  readonly logsource: LogSource;
  /** Fields, each with the names that events may use for it */
  readonly fields: readonly { readonly field: string; readonly names: readonly string[] }[];
  readonly placeholders: readonly string[];
  /** Cost of an evaluation, in value comparisons */
  readonly cost: number;
  /** Whether the rule matches an event without values */
  readonly matchesEmptyEvent: boolean;
}

/** Returns the log source, fields and placeholders that a rule or filter needs. */
export const getRequirements = (rule: SigmaRule | SigmaFilter, tables: readonly FieldTable[]): RuleRequirements => {
  const { tree } = getTree(rule, tables, {});
  const fields = new Map(collectItems(tree).map(({ field, names }) => [field, names]));
  fields.delete('');
  return {
    logsource: rule.logsource,
    fields: [...fields].map(([field, names]) => ({ field, names })),
    placeholders: findPlaceholders(rule.detection),
    cost: estimateCost(tree),
    matchesEmptyEvent: createPredicate(tree, new EventView())(),
  };
};

/**
 * Compiles documents to a rule set. Filters narrow the rules of the same set; correlations are passed to the component
 * that manages windows.
 */
export const compileRuleSet = (
  rules: readonly DeployedRule[],
  tables: readonly FieldTable[],
  options: CompileOptions = {},
): RuleSet => new RuleSet(rules, tables, options);
