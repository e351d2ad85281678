/** Fields in which the values of a dashboard's variables are chosen. They are in the address. */
import { allInAddress, change } from '../../frame/address.ts';
import { shownText } from '../../frame/shown-text.tsx';
import type { Head } from './board.ts';
import type { Variable } from './calls.ts';
import { addressName, allValues } from './variable-values.ts';

type Answered = Head['variables'][number];

const Several = ({ variable, of }: { readonly variable: Variable; readonly of: Answered }) => {
  const isChosen = new Set(of.selected);
  const hasAll = 'all' in variable && variable.all !== undefined;
  const set = (value: string, isOn: boolean): void => {
    const others = of.selected.filter((one) => one !== value && one !== allValues);
    const values = value === allValues ? [allValues] : isOn ? [...others, value] : others;
    change({ [addressName(variable)]: values });
  };
  const options = [...(hasAll ? [{ value: allValues, title: 'All' }] : []), ...of.options];
  const told = of.selected.map((value) => options.find((option) => option.value === value)?.title ?? value);
  const title = variable.title ?? variable.name;
  return (
    <details class="menu">
      <summary aria-label={`${title}: ${told.join(', ')}`}>
        {shownText(title)}:{' '}
        <bdi>{shownText(told.length > 3 ? `${told.length} values` : told.join(', ') || 'none')}</bdi>
      </summary>
      <div class="popup popup-left">
        {options.map(({ value, title }) => (
          <label key={value} class="choice">
            <input
              type="checkbox"
              checked={isChosen.has(value)}
              onChange={({ currentTarget }) => set(value, currentTarget.checked)}
            />{' '}
            <bdi>{shownText(title)}</bdi>
          </label>
        ))}
      </div>
    </details>
  );
};

const One = ({ variable, of }: { readonly variable: Variable; readonly of: Answered }) => {
  const hasAll = 'all' in variable && variable.all !== undefined;
  const [selected = ''] = of.selected;
  const isKnown = of.options.some(({ value }) => value === selected) || (hasAll && selected === allValues);
  return (
    <label>
      {shownText(variable.title ?? variable.name)}{' '}
      <select
        value={selected}
        onChange={({ currentTarget }) => change({ [addressName(variable)]: currentTarget.value })}
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

const Written = ({ variable, of }: { readonly variable: Variable; readonly of: Answered }) => (
  <label>
    {shownText(variable.title ?? variable.name)}{' '}
    <input
      key={of.selected.join()}
      defaultValue={of.selected.join(', ')}
      autocomplete="off"
      spellcheck={false}
      placeholder={variable.kind === 'filters' ? 'job=node' : ''}
      onChange={({ currentTarget }) => change({ [addressName(variable)]: currentTarget.value })}
    />
  </label>
);

export const Variables = ({ variables, head }: { readonly variables: readonly Variable[]; readonly head: Head }) => (
  <>
    {variables.map((variable) => {
      const answered = head.variables.find(({ name }) => name === variable.name);
      const inIt = allInAddress(addressName(variable));
      // What is chosen shows before it is answered.
      const of = answered && inIt.length > 0 ? { ...answered, selected: [...inIt] } : answered;
      if (of === undefined || variable.hide === 'variable' || variable.kind === 'constant') return null;
      const isWritten = variable.kind === 'text' || variable.kind === 'filters';
      const View = isWritten ? Written : 'several' in variable && variable.several ? Several : One;
      return (
        <div key={variable.name}>
          <View variable={variable} of={of} />
          {of.error === undefined ? null : <p class="problem-text">{shownText(of.error.message)}</p>}
        </div>
      );
    })}
  </>
);
