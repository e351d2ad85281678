/** Selection fields of a dashboard's variables, stored in the URL */
import { readAllParams, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/shown-text.tsx';
import type { DashboardHead } from './board.ts';
import type { Variable } from './calls.ts';
import { allValues, urlParameter } from './variable-values.ts';

type VariableResult = DashboardHead['variables'][number];

/** Label of a variable, visible or only for screen readers. */
const VariableLabel = ({ variable: { title, name, hide } }: { readonly variable: Variable }) => (
  <span class={hide === 'title' ? 'sr-only' : ''}>{renderText(title ?? name)}:</span>
);

const MultiSelect = ({ variable, of }: { readonly variable: Variable; readonly of: VariableResult }) => {
  const selectedValues = new Set(of.selected);
  const hasAll = 'all' in variable && variable.all !== undefined;
  const set = (value: string, isOn: boolean): void => {
    const others = of.selected.filter((one) => one !== value && one !== allValues);
    const values = value === allValues ? [allValues] : isOn ? [...others, value] : others;
    setParams({ [urlParameter(variable)]: values });
  };
  const options = [...(hasAll ? [{ value: allValues, title: 'All' }] : []), ...of.options];
  const selectedText = of.selected.map((value) => options.find((option) => option.value === value)?.title ?? value);
  return (
    <details class="menu">
      <summary>
        <VariableLabel variable={variable} />{' '}
        <bdi>
          {renderText(selectedText.length > 3 ? `${selectedText.length} values` : selectedText.join(', ') || 'none')}
        </bdi>
      </summary>
      <div class="popup popup-left">
        {options.map(({ value, title }) => (
          <label key={value} class="choice">
            <input
              type="checkbox"
              checked={selectedValues.has(value)}
              onChange={({ currentTarget }) => set(value, currentTarget.checked)}
            />{' '}
            <bdi>{renderText(title)}</bdi>
          </label>
        ))}
      </div>
    </details>
  );
};

const SingleSelect = ({ variable, of }: { readonly variable: Variable; readonly of: VariableResult }) => {
  const hasAll = 'all' in variable && variable.all !== undefined;
  const [selected = ''] = of.selected;
  const isKnown = of.options.some(({ value }) => value === selected) || (hasAll && selected === allValues);
  return (
    <label>
      <VariableLabel variable={variable} />{' '}
      <select
        value={selected}
        onChange={({ currentTarget }) => setParams({ [urlParameter(variable)]: currentTarget.value })}
      >
        {hasAll ? <option value={allValues}>All</option> : null}
        {isKnown ? null : <option value={selected}>{selected}</option>}
        {of.options.map(({ value, title }) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
};

const TextVariable = ({ variable, of }: { readonly variable: Variable; readonly of: VariableResult }) => (
  <label>
    <VariableLabel variable={variable} />{' '}
    <input
      key={of.selected.join()}
      defaultValue={of.selected.join(', ')}
      autocomplete="off"
      spellcheck={false}
      onChange={({ currentTarget }) => setParams({ [urlParameter(variable)]: currentTarget.value })}
    />
  </label>
);

type Filters = Extract<Variable, { kind: 'filters' }>;
const operators = ['=', '!=', '=~', '!~', '<', '>'] as const;
const formatFilters = (filters: Filters['filters']): readonly string[] =>
  filters.flatMap(({ label, operator, values }) => values.map((value) => `${label}${operator}${value}`));

/** Conditions on labels, which can be added and removed. */
const FilterEditor = ({ variable }: { readonly variable: Filters }) => {
  const urlValues = readAllParams(urlParameter(variable));
  const activeFilters =
    urlValues.length > 0 ? urlValues.filter((text) => text !== '') : formatFilters(variable.filters);
  const always = formatFilters(variable.always);
  // An empty URL parameter means no conditions; without the parameter, the defaults of the dashboard apply.
  const set = (texts: readonly string[]): void =>
    setParams({ [urlParameter(variable)]: texts.length === 0 && variable.filters.length > 0 ? [''] : texts });
  const all = [...always, ...activeFilters];
  return (
    <details class="menu">
      <summary>
        <VariableLabel variable={variable} />{' '}
        <bdi>{renderText(all.length > 3 ? `${all.length} conditions` : all.join(', ') || 'none')}</bdi>
      </summary>
      <form
        class="popup popup-left"
        onSubmit={(event) => {
          event.preventDefault();
          const written = new FormData(event.currentTarget);
          const text = ['label', 'operator', 'value'].map((name) => String(written.get(name)).trim()).join('');
          event.currentTarget.reset();
          set([...activeFilters.filter((one) => one !== text), text]);
        }}
      >
        {always.map((text) => (
          <p key={text} class="soft">
            <bdi>{renderText(text)}</bdi>
          </p>
        ))}
        {activeFilters.map((text) => (
          <p key={text}>
            <bdi>{renderText(text)}</bdi>{' '}
            <button type="button" class="plain" onClick={() => set(activeFilters.filter((one) => one !== text))}>
              Remove <span class="sr-only">{text}</span>
            </button>
          </p>
        ))}
        <label>
          Label <input name="label" required pattern="[^=!<>~]+" autocomplete="off" spellcheck={false} />
        </label>
        <label>
          is{' '}
          <select name="operator">
            {operators.map((operator) => (
              <option key={operator} value={operator}>
                {operator}
              </option>
            ))}
          </select>
        </label>
        <label>
          Value <input name="value" autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit">Add filter</button>
      </form>
    </details>
  );
};

const Field = ({ variable, of }: { readonly variable: Variable; readonly of: VariableResult }) => {
  if (variable.kind === 'filters') return <FilterEditor variable={variable} />;
  const View =
    variable.kind === 'text' ? TextVariable : 'several' in variable && variable.several ? MultiSelect : SingleSelect;
  return <View variable={variable} of={of} />;
};

export const Variables = ({
  variables,
  head,
}: {
  readonly variables: readonly Variable[];
  readonly head: DashboardHead;
}) => (
  <>
    {variables.map((variable) => {
      const answered = head.variables.find(({ name }) => name === variable.name);
      const inIt = readAllParams(urlParameter(variable));
      // The selection is displayed before the response arrives.
      const of = answered && inIt.length > 0 ? { ...answered, selected: [...inIt] } : answered;
      if (of === undefined || variable.hide === 'variable' || variable.kind === 'constant') return null;
      return (
        <div key={variable.name}>
          <Field variable={variable} of={of} />
          {of.error === undefined ? null : <p class="problem-text">{renderText(of.error.message)}</p>}
        </div>
      );
    })}
  </>
);
