/** Names of rules from files: unique in OIQ, but not in Prometheus. */
import type { AlertRule, AlertRuleFields, RuleOrigin } from './rule.ts';

/** The fields of an existing rule that are needed for the import of a file. */
export type ExistingRule = Pick<AlertRule, 'id' | 'name' | 'origin'>;

/**
 * Assigns names to rules of files. A rule with the same origin as an existing rule replaces it and keeps its name. An
 * existing rule of the same name that does not come from a file is only replaced if `takeOver` is set. For the name of a
 * rule of another file, the group is added to it, and `alertName` preserves the original.
 */
export class RuleNames {
  readonly #byOrigin = new Map<string, ExistingRule>();
  readonly #byName = new Map<string, ExistingRule | undefined>();

  readonly #takeOver: boolean;

  constructor(existingRules: Iterable<ExistingRule>, { takeOver = false }: { readonly takeOver?: boolean } = {}) {
    this.#takeOver = takeOver;
    for (const rule of existingRules) this.#addRule(rule);
  }

  /** Returns the rule with its name, and the existing rule that it replaces; `undefined` if it must not replace that. */
  assign(
    rule: AlertRuleFields,
  ): { readonly rule: AlertRuleFields; readonly replaces: ExistingRule | undefined } | undefined {
    const { origin } = rule;
    if (origin === undefined) return { rule, replaces: this.#byName.get(rule.name) };
    const sameNameRule = this.#byName.get(rule.name);
    const foreignRule = sameNameRule !== undefined && sameNameRule.origin === undefined ? sameNameRule : undefined;
    const importedRule = this.#byOrigin.get(originKey(origin));
    if (importedRule === undefined && foreignRule !== undefined && !this.#takeOver) return undefined;
    const replaces = importedRule ?? foreignRule;
    const name = replaces?.name ?? this.#createUniqueName(origin);
    this.#addRule({ id: replaces?.id ?? '', name, origin });
    return { rule: { ...rule, name, ...(name !== origin.alert && { alertName: origin.alert }) }, replaces };
  }

  #addRule(rule: ExistingRule): void {
    this.#byName.set(rule.name, rule);
    if (rule.origin !== undefined) this.#byOrigin.set(originKey(rule.origin), rule);
  }

  #createUniqueName({ alert, group }: RuleOrigin): string {
    let name = alert;
    for (let count = 1; this.#byName.has(name); count++) {
      const suffix = ` (${group.slice(0, 100)}${count === 1 ? '' : ` ${count}`})`;
      name = alert.slice(0, maxNameLength - suffix.length) + suffix;
    }
    return name;
  }
}

const maxNameLength = 256;
const originKey = ({ file, group, alert, nth }: RuleOrigin): string => JSON.stringify([file, group, alert, nth]);
