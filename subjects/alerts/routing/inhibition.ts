/** Inhibition: firing alerts that mute others. */
import type { InhibitRule } from '../../../schemas/resources/alert-routing.ts';
import { type CompiledMatchers, compileMatchers, type Labels } from './matchers.ts';

interface FiringSource {
  readonly id: string;
  /**
   * Whether the alert is also a target of the same rule. If so, it does not mute alerts that are both source and
   * target.
   */
  readonly isTarget: boolean;
}

interface CompiledInhibitRule {
  readonly source: CompiledMatchers;
  readonly target: CompiledMatchers;
  readonly equal: readonly string[];
  /** Firing sources by the values of the labels that must be equal */
  readonly sources: Map<string, FiringSource[]>;
}

const toEqualLabelsKey = ({ equal }: CompiledInhibitRule, labels: Labels): string =>
  JSON.stringify(equal.map((name) => labels[name] ?? ''));

/**
 * The firing alerts that may mute others. An alert that is both source and target of a rule is not muted by other such
 * alerts, so that two alerts cannot mute each other.
 */
export class Inhibition {
  readonly #rules: readonly CompiledInhibitRule[];

  constructor(rules: readonly InhibitRule[]) {
    this.#rules = rules.map(({ sourceMatchers, targetMatchers, equal }) => ({
      source: compileMatchers(sourceMatchers),
      target: compileMatchers(targetMatchers),
      equal,
      sources: new Map(),
    }));
  }

  /** Adds an alert that starts firing. */
  add(id: string, labels: Labels): void {
    for (const rule of this.#rules) {
      if (!rule.source.matches(labels)) continue;
      const values = toEqualLabelsKey(rule, labels);
      const otherSources = (rule.sources.get(values) ?? []).filter((source) => source.id !== id);
      rule.sources.set(values, [...otherSources, { id, isTarget: rule.target.matches(labels) }]);
    }
  }

  /** Removes an alert that stops firing. */
  remove(id: string, labels: Labels): void {
    for (const rule of this.#rules) {
      if (!rule.source.matches(labels)) continue;
      const values = toEqualLabelsKey(rule, labels);
      const remainingSources = (rule.sources.get(values) ?? []).filter((source) => source.id !== id);
      if (remainingSources.length > 0) rule.sources.set(values, remainingSources);
      else rule.sources.delete(values);
    }
  }

  /** Returns the ID of an alert that mutes these labels; `undefined` if there is none. */
  findMutingAlert(labels: Labels): string | undefined {
    for (const rule of this.#rules) {
      if (!rule.target.matches(labels)) continue;
      const isSource = rule.source.matches(labels);
      const mutingSource = rule.sources
        .get(toEqualLabelsKey(rule, labels))
        ?.find(({ isTarget }) => !(isSource && isTarget));
      if (mutingSource !== undefined) return mutingSource.id;
    }
    return undefined;
  }
}
