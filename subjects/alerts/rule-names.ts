/** The names of rules of files: unique here, and not in Prometheus. */
import type { AlertRule, AlertRuleFields, RuleOrigin } from './rule.ts';

/** What is known of a rule before a file is read. */
export type KnownRule = Pick<AlertRule, 'id' | 'name' | 'origin'>;

/**
 * Gives rules of files their names. One of the same origin has its name back; else one of the same name that is of no file is meant. Names
 * are unique here and not in Prometheus: where the alert's is taken, the group is added, and `alertName` keeps it.
 */
export class RuleNames {
  readonly #byOrigin = new Map<string, KnownRule>();
  readonly #byName = new Map<string, KnownRule | undefined>();

  constructor(known: Iterable<KnownRule>) {
    for (const rule of known) this.#know(rule);
  }

  /** The rule under its name, and the known one that it replaces. */
  assign(rule: AlertRuleFields): { readonly rule: AlertRuleFields; readonly replaces: KnownRule | undefined } {
    const { origin } = rule;
    if (origin === undefined) return { rule, replaces: this.#byName.get(rule.name) };
    const ofNone = this.#byName.get(rule.name);
    const replaces =
      this.#byOrigin.get(keyOf(origin)) ?? (ofNone !== undefined && ofNone.origin === undefined ? ofNone : undefined);
    const name = replaces?.name ?? this.#freeName(origin);
    this.#know({ id: replaces?.id ?? '', name, origin });
    return { rule: { ...rule, name, ...(name !== origin.alert && { alertName: origin.alert }) }, replaces };
  }

  #know(rule: KnownRule): void {
    this.#byName.set(rule.name, rule);
    if (rule.origin !== undefined) this.#byOrigin.set(keyOf(rule.origin), rule);
  }

  #freeName({ alert, group }: RuleOrigin): string {
    let name = alert;
    for (let count = 1; this.#byName.has(name); count++) {
      const more = ` (${group.slice(0, 100)}${count === 1 ? '' : ` ${count}`})`;
      name = alert.slice(0, maxNameLength - more.length) + more;
    }
    return name;
  }
}

const maxNameLength = 256;
const keyOf = ({ file, group, alert, nth }: RuleOrigin): string => JSON.stringify([file, group, alert, nth]);
