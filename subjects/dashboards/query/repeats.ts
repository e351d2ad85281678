/** Displayed panels: once, or once for each selected value of a variable. */
import type { Incompleteness } from '../../../queries/result.ts';
import type { ResolvedVariable, ResolvedVariables } from '../../../queries/variables/resolve.ts';
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
export interface PanelCopy {
  readonly panel: Panel;
  readonly repeat: Readonly<Record<string, string>> | null;
  readonly scope: Scope;
  readonly partial: readonly Incompleteness[];
}

/** Returns the repeats of a panel: those of its sections, outermost first, and its own. */
export const collectRepeats = ({ place, repeat }: Panel, sections: DashboardFields['sections']): readonly Repeat[] => {
  const repeats: Repeat[] = [];
  const byId = new Map(sections.map((section) => [section.id, section]));
  for (let at = byId.get(place.section ?? ''); at !== undefined; at = byId.get(at.within ?? ''))
    if (at.repeat !== null) repeats.unshift(at.repeat);
  return repeat === null ? repeats : [...repeats, repeat];
};

const selectedValues = ({ selected, options }: ResolvedVariable): readonly string[] =>
  selected[0] === allValues ? options.map(({ value }) => value) : selected;

const truncationMessage = (variable: string, max: number, valueCount: number): Incompleteness => ({
  code: 'rows',
  message: `the first ${max} of ${valueCount} values of ${variable}: select fewer values`,
});

type RepeatValues = Readonly<Record<string, string>>;

/** Applies another variable: each copy so far is repeated for each of its values. */
const applyRepeat = (
  chosen: readonly RepeatValues[],
  { variable, max }: Repeat,
  items: ResolvedVariables['items'],
  partial: Incompleteness[],
): readonly RepeatValues[] => {
  const item = items.find(({ name }) => name === variable);
  const values = item === undefined ? [] : selectedValues(item);
  if (values.length === 0) return chosen;
  if (values.length > max) partial.push(truncationMessage(variable, max, values.length));
  const all = chosen.flatMap((one) => values.slice(0, max).map((value) => ({ ...one, [variable]: value })));
  if (all.length > maxRepeats) partial.push(truncationMessage(variable, maxRepeats, all.length));
  return all.slice(0, maxRepeats);
};

const copyScope = (chosen: RepeatValues, { scope, items }: ResolvedVariables): Scope => {
  const own = Object.entries(chosen).map(([name, value]): [string, VariableValue] => {
    const title = items.find((item) => item.name === name)?.options.find((option) => option.value === value)?.title;
    return [name, { values: [value], titles: [title ?? value], isList: scope.get(name)?.isList ?? false }];
  });
  return new Map([...scope, ...own]);
};

/** Returns a panel once, or repeated for its variables. A variable without a value repeats nothing. */
export const createPanelCopies = (
  panel: Panel,
  sections: DashboardFields['sections'],
  resolved: ResolvedVariables,
): readonly PanelCopy[] => {
  const partial: Incompleteness[] = [];
  let chosen: readonly RepeatValues[] = [{}];
  for (const repeat of collectRepeats(panel, sections)) chosen = applyRepeat(chosen, repeat, resolved.items, partial);
  return chosen.map((one) => ({
    panel,
    repeat: Object.keys(one).length === 0 ? null : one,
    scope: copyScope(one, resolved),
    partial,
  }));
};
