/** Time range picker: a preset, or two typed or pasted times */
import { useState } from 'preact/hooks';
import { presets, problemsOf, refresh, setRange, titleOf, toRequestTime, writtenRange, zoomOut } from './time-range.ts';

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

const close = (from: EventTarget & Element): void => {
  const menu = from.closest('details');
  menu?.removeAttribute('open');
  menu?.querySelector('summary')?.focus();
};

const Form = () => {
  const [typed, setTyped] = useState(writtenRange.value);
  const [shows, setShows] = useState(false);
  const requestedRange = { from: toRequestTime(typed.from), to: toRequestTime(typed.to) };
  const problems = shows ? problemsOf(requestedRange) : {};
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setShows(true);
        if (Object.keys(problemsOf(requestedRange)).length > 0) return;
        setRange(requestedRange);
        close(event.currentTarget);
      }}
    >
      <Field
        name="range-from"
        label="From"
        value={typed.from}
        problem={problems.from}
        onInput={(from) => setTyped({ ...typed, from })}
      />
      <Field
        name="range-to"
        label="To"
        value={typed.to}
        problem={problems.to}
        onInput={(to) => setTyped({ ...typed, to })}
      />
      <p class="soft">Times without a time zone are UTC.</p>
      <button type="submit">Apply</button>
    </form>
  );
};

export const RangePicker = () => {
  const range = writtenRange.value;
  const problems = Object.values(problemsOf(range));
  return (
    <div class="range">
      <details class="menu" id="range">
        <summary aria-label={`Time range: ${titleOf(range)}`}>{titleOf(range)}</summary>
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
                    close(currentTarget);
                  }}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
          <Form key={`${range.from} ${range.to}`} />
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
