/** Selection fields of a dashboard's variables, stored in the URL */
import { readAllParams, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import type { DashboardContext } from './board.ts';
import type { Variable } from './calls.ts';
import { allValues, getUrlParameter } from './variable-values.ts';

type VariableResult = DashboardContext['variables'][number];

/** Label of a variable, visible or only for screen readers. */
const VariableLabel = ({ variable: { title, name, hide } }: { readonly variable: Variable }) => (
  <span class={hide === 'title' ? 'sr-only' : ''}>{renderText(title ?? name)}:</span>
);

const MultiSelect = ({
  variable,
  variableResult,
}: {
  readonly variable: Variable;
  readonly variableResult: VariableResult;
}) => {
  const selectedValues = new Set(variableResult.selected);
  const hasAll = 'all' in variable && variable.all !== undefined;
  const selectValue = (value: string, isSelected: boolean): void => {
    const otherValues = variableResult.selected.filter(
      (selectedValue) => selectedValue !== value && selectedValue !== allValues,
    );
    const values = value === allValues ? [allValues] : isSelected ? [...otherValues, value] : otherValues;
    setParams({ [getUrlParameter(variable)]: values });
  };
  const options = [...(hasAll ? [{ value: allValues, title: 'All' }] : []), ...variableResult.options];
  const selectedText = variableResult.selected.map(
    (value) => options.find((option) => option.value === value)?.title ?? value,
  );
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
              onChange={({ currentTarget }) => selectValue(value, currentTarget.checked)}
            />{' '}
            <bdi>{renderText(title)}</bdi>
          </label>
        ))}
      </div>
    </details>
  );
};

const SingleSelect = ({
  variable,
  variableResult,
}: {
  readonly variable: Variable;
  readonly variableResult: VariableResult;
}) => {
  const hasAll = 'all' in variable && variable.all !== undefined;
  const [selected = ''] = variableResult.selected;
  const isListedOption =
    variableResult.options.some(({ value }) => value === selected) || (hasAll && selected === allValues);
  return (
    <label>
      <VariableLabel variable={variable} />{' '}
      <select
        value={selected}
        onChange={({ currentTarget }) => setParams({ [getUrlParameter(variable)]: currentTarget.value })}
      >
        {hasAll ? <option value={allValues}>All</option> : null}
        {isListedOption ? null : <option value={selected}>{selected}</option>}
        {variableResult.options.map(({ value, title }) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
};

const TextVariable = ({
  variable,
  variableResult,
}: {
  readonly variable: Variable;
  readonly variableResult: VariableResult;
}) => (
  <label>
    <VariableLabel variable={variable} />{' '}
    <input
      key={variableResult.selected.join()}
      defaultValue={variableResult.selected.join(', ')}
      autocomplete="off"
      spellcheck={false}
      onChange={({ currentTarget }) => setParams({ [getUrlParameter(variable)]: currentTarget.value })}
    />
  </label>
);

type Filters = Extract<Variable, { kind: 'filters' }>;
const operators = ['=', '!=', '=~', '!~', '<', '>'] as const;
const formatFilters = (filters: Filters['filters']): readonly string[] =>
  filters.flatMap(({ label, operator, values }) => values.map((value) => `${label}${operator}${value}`));

/** Conditions on labels, which can be added and removed. */
const FilterEditor = ({ variable }: { readonly variable: Filters }) => {
  const urlValues = readAllParams(getUrlParameter(variable));
  const activeFilters =
    urlValues.length > 0 ? urlValues.filter((text) => text !== '') : formatFilters(variable.filters);
  const fixedFilters = formatFilters(variable.always);
  // An empty URL parameter means no conditions; without the parameter, the defaults of the dashboard apply.
  const updateFilters = (texts: readonly string[]): void =>
    setParams({ [getUrlParameter(variable)]: texts.length === 0 && variable.filters.length > 0 ? [''] : texts });
  const allFilters = [...fixedFilters, ...activeFilters];
  return (
    <details class="menu">
      <summary>
        <VariableLabel variable={variable} />{' '}
        <bdi>
          {renderText(allFilters.length > 3 ? `${allFilters.length} conditions` : allFilters.join(', ') || 'none')}
        </bdi>
      </summary>
      <form
        class="popup popup-left"
        onSubmit={(event) => {
          event.preventDefault();
          const formData = new FormData(event.currentTarget);
          const text = ['label', 'operator', 'value'].map((name) => String(formData.get(name)).trim()).join('');
          event.currentTarget.reset();
          updateFilters([...activeFilters.filter((filterText) => filterText !== text), text]);
        }}
      >
        {fixedFilters.map((text) => (
          <p key={text} class="soft">
            <bdi>{renderText(text)}</bdi>
          </p>
        ))}
        {activeFilters.map((text) => (
          <p key={text}>
            <bdi>{renderText(text)}</bdi>{' '}
            <button
              type="button"
              class="plain"
              onClick={() => updateFilters(activeFilters.filter((filterText) => filterText !== text))}
            >
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

const VariableField = ({
  variable,
  variableResult,
}: {
  readonly variable: Variable;
  readonly variableResult: VariableResult;
}) => {
  if (variable.kind === 'filters') return <FilterEditor variable={variable} />;
  const View =
    variable.kind === 'text' ? TextVariable : 'several' in variable && variable.several ? MultiSelect : SingleSelect;
  return <View variable={variable} variableResult={variableResult} />;
};

export const Variables = ({
  variables,
  head,
}: {
  readonly variables: readonly Variable[];
  readonly head: DashboardContext;
}) => (
  <>
    {variables.map((variable) => {
      const variableResult = head.variables.find(({ name }) => name === variable.name);
      const urlValues = readAllParams(getUrlParameter(variable));
      // The selection is displayed before the response arrives.
      const currentResult =
        variableResult && urlValues.length > 0 ? { ...variableResult, selected: [...urlValues] } : variableResult;
      if (currentResult === undefined || variable.hide === 'variable' || variable.kind === 'constant') return null;
      return (
        <div key={variable.name}>
          <VariableField variable={variable} variableResult={currentResult} />
          {currentResult.error === undefined ? null : (
            <p class="problem-text">{renderText(currentResult.error.message)}</p>
          )}
        </div>
      );
    })}
  </>
);
