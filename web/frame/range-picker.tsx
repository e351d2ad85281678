/** Time range picker: a preset range, or a start and end entered as text */
import { useState } from 'preact/hooks';
import {
  findRangeProblems,
  presets,
  refresh,
  setRange,
  toRangeTitle,
  toRequestTime,
  typedRange,
  zoomOut,
} from './time-range.ts';

const Field = ({
  name,
  label,
  value,
  problem,
  onInput,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onInput: (text: string) => void;
}) => (
  <div>
    <label for={name}>{label}</label>
    <input
      id={name}
      value={value}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={problem !== undefined}
      aria-describedby={`${name}-problem`}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
    <p class="problem-text" id={`${name}-problem`} role="alert">
      {problem ?? ''}
    </p>
  </div>
);

const closeMenu = (element: EventTarget & Element): void => {
  const menu = element.closest('details');
  menu?.removeAttribute('open');
  menu?.querySelector('summary')?.focus();
};

const RangeForm = () => {
  const [draftRange, setDraftRange] = useState(typedRange.value);
  const [showsProblems, setShowsProblems] = useState(false);
  const requestRange = { from: toRequestTime(draftRange.from), to: toRequestTime(draftRange.to) };
  const problems = showsProblems ? findRangeProblems(requestRange) : {};
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setShowsProblems(true);
        if (Object.keys(findRangeProblems(requestRange)).length > 0) return;
        setRange(requestRange);
        closeMenu(event.currentTarget);
      }}
    >
      <Field
        name="range-from"
        label="From"
        value={draftRange.from}
        problem={problems.from}
        onInput={(from) => setDraftRange({ ...draftRange, from })}
      />
      <Field
        name="range-to"
        label="To"
        value={draftRange.to}
        problem={problems.to}
        onInput={(to) => setDraftRange({ ...draftRange, to })}
      />
      <p class="soft">Times without a time zone are UTC. Days such as now/d are those of your time zone.</p>
      <button type="submit">Apply</button>
    </form>
  );
};

export const RangePicker = () => {
  const range = typedRange.value;
  const problems = Object.values(findRangeProblems(range));
  return (
    <div class="range">
      <details class="menu" id="range">
        <summary aria-label={`Time range: ${toRangeTitle(range)}`}>{toRangeTitle(range)}</summary>
        <div class="popup">
          <ul class="presets">
            {presets.map(([from, title]) => (
              <li key={from}>
                <button
                  type="button"
                  class="plain"
                  aria-pressed={range.from === from && range.to === 'now'}
                  onClick={({ currentTarget }) => {
                    setRange({ from, to: 'now' });
                    closeMenu(currentTarget);
                  }}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
          <RangeForm key={`${range.from} ${range.to}`} />
        </div>
      </details>
      <button type="button" class="plain" onClick={zoomOut}>
        Zoom out
      </button>
      <button type="button" class="plain" id="refresh" onClick={refresh}>
        Refresh
      </button>
      {problems.length === 0 ? null : (
        <p class="problem" role="alert">
          The time range in the URL is invalid. {problems[0]}
        </p>
      )}
    </div>
  );
};
