/** Displayed panels: once, or once for each selected value of a variable. */
import type { Incompleteness } from '../../../queries/result.ts';
import type { Resolved, ResolvedVariable } from '../../../queries/variables/resolve.ts';
import type { Scope, VariableValue } from '../../../queries/variables/scope.ts';
import { allValues } from '../../../schemas/dashboards/variables.ts';
import type { DashboardFields, Panel } from '../document.ts';

/** Maximum copies of one panel in one request, including those by repeating sections. */
const maxRepeats = 100;

interface Repeat {
  readonly variable: string;
  readonly max: number;
}

/** One displayed panel. */
export interface ShownPanel {
  readonly panel: Panel;
  readonly repeat: Readonly<Record<string, string>> | null;
  readonly scope: Scope;
  readonly partial: readonly Incompleteness[];
}

/** Returns the repeats of a panel: those of its sections, outermost first, and its own. */
export const repeatsOf = ({ place, repeat }: Panel, sections: DashboardFields['sections']): readonly Repeat[] => {
  const around: Repeat[] = [];
  const byId = new Map(sections.map((section) => [section.id, section]));
  for (let at = byId.get(place.section ?? ''); at !== undefined; at = byId.get(at.within ?? ''))
    if (at.repeat !== null) around.unshift(at.repeat);
  return repeat === null ? around : [...around, repeat];
};

const valuesOf = ({ selected, options }: ResolvedVariable): readonly string[] =>
  selected[0] === allValues ? options.map(({ value }) => value) : selected;

const cut = (variable: string, max: number, found: number): Incompleteness => ({
  code: 'rows',
  message: `the first ${max} of ${found} values of ${variable}: select fewer values`,
});

type Chosen = Readonly<Record<string, string>>;

/** Applies another variable: each copy so far is repeated for each of its values. */
const times = (
  chosen: readonly Chosen[],
  { variable, max }: Repeat,
  items: Resolved['items'],
  partial: Incompleteness[],
): readonly Chosen[] => {
  const item = items.find(({ name }) => name === variable);
  const values = item === undefined ? [] : valuesOf(item);
  if (values.length === 0) return chosen;
  if (values.length > max) partial.push(cut(variable, max, values.length));
  const all = chosen.flatMap((one) => values.slice(0, max).map((value) => ({ ...one, [variable]: value })));
  if (all.length > maxRepeats) partial.push(cut(variable, maxRepeats, all.length));
  return all.slice(0, maxRepeats);
};

const scopeOf = (chosen: Chosen, { scope, items }: Resolved): Scope => {
  const own = Object.entries(chosen).map(([name, value]): [string, VariableValue] => {
    const title = items.find((item) => item.name === name)?.options.find((option) => option.value === value)?.title;
    return [name, { values: [value], titles: [title ?? value], isList: scope.get(name)?.isList ?? false }];
  });
  return new Map([...scope, ...own]);
};

/** Returns a panel once, or repeated for its variables. A variable without a value repeats nothing. */
export const shownPanels = (
  panel: Panel,
  sections: DashboardFields['sections'],
  resolved: Resolved,
): readonly ShownPanel[] => {
  const partial: Incompleteness[] = [];
  let chosen: readonly Chosen[] = [{}];
  for (const repeat of repeatsOf(panel, sections)) chosen = times(chosen, repeat, resolved.items, partial);
  return chosen.map((one) => ({
    panel,
    repeat: Object.keys(one).length === 0 ? null : one,
    scope: scopeOf(one, resolved),
    partial,
  }));
};
