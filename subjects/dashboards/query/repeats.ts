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
  for (let ancestor = byId.get(place.section ?? ''); ancestor !== undefined; ancestor = byId.get(ancestor.within ?? ''))
    if (ancestor.repeat !== null) repeats.unshift(ancestor.repeat);
  return repeat === null ? repeats : [...repeats, repeat];
};

const getSelectedValues = ({ selected, options }: ResolvedVariable): readonly string[] =>
  selected[0] === allValues ? options.map(({ value }) => value) : selected;

const createTruncationMessage = (variable: string, max: number, valueCount: number): Incompleteness => ({
  code: 'rows',
  message: `the first ${max} of ${valueCount} values of ${variable}: select fewer values`,
});

type RepeatValues = Readonly<Record<string, string>>;

/** Applies another variable: each copy so far is repeated for each of its values. */
const applyRepeat = (
  copies: readonly RepeatValues[],
  { variable, max }: Repeat,
  items: ResolvedVariables['items'],
  partial: Incompleteness[],
): readonly RepeatValues[] => {
  const item = items.find(({ name }) => name === variable);
  const values = item === undefined ? [] : getSelectedValues(item);
  if (values.length === 0) return copies;
  if (values.length > max) partial.push(createTruncationMessage(variable, max, values.length));
  const repeatedCopies = copies.flatMap((copyValues) =>
    values.slice(0, max).map((value) => ({ ...copyValues, [variable]: value })),
  );
  if (repeatedCopies.length > maxRepeats)
    partial.push(createTruncationMessage(variable, maxRepeats, repeatedCopies.length));
  return repeatedCopies.slice(0, maxRepeats);
};

const createCopyScope = (repeatValues: RepeatValues, { scope, items }: ResolvedVariables): Scope => {
  const repeatVariables = Object.entries(repeatValues).map(([name, value]): [string, VariableValue] => {
    const title = items.find((item) => item.name === name)?.options.find((option) => option.value === value)?.title;
    return [name, { values: [value], titles: [title ?? value], isList: scope.get(name)?.isList ?? false }];
  });
  return new Map([...scope, ...repeatVariables]);
};

/** Returns a panel once, or repeated for its variables. A variable without a value repeats nothing. */
export const createPanelCopies = (
  panel: Panel,
  sections: DashboardFields['sections'],
  resolved: ResolvedVariables,
): readonly PanelCopy[] => {
  const partial: Incompleteness[] = [];
  let copies: readonly RepeatValues[] = [{}];
  for (const repeat of collectRepeats(panel, sections)) copies = applyRepeat(copies, repeat, resolved.items, partial);
  return copies.map((copyValues) => ({
    panel,
    repeat: Object.keys(copyValues).length === 0 ? null : copyValues,
    scope: createCopyScope(copyValues, resolved),
    partial,
  }));
};
