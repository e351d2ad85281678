/** Time range picker: presets, recent ranges, typed times and a calendar, and the comparison with the previous period */
import { Clock, ZoomOut } from 'lucide';
import { useState } from 'preact/hooks';
import { Button, ButtonGroup, IconButton } from '../components/button.tsx';
import { closePopover, Popover } from '../components/popover.tsx';
import { RefreshControls } from './auto-refresh.tsx';
import { Calendar } from './calendar.tsx';
import { displayTimeZone, formatTime } from './format-time.ts';
import {
  comparesPrevious,
  findRangeProblems,
  presets,
  recentRanges,
  setComparesPrevious,
  setRange,
  type TimeRange,
  toMilliseconds,
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

/** Returns a bound of a range as it is edited: an instant in the time zone for display, an expression unchanged. */
const toEditedTime = (text: string): string => {
  const ms = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? text : formatTime(ms, { isIso: true }).slice(0, 19);
};

const toEditedRange = ({ from, to }: TimeRange): TimeRange => ({ from: toEditedTime(from), to: toEditedTime(to) });

const RangeForm = () => {
  const [draftRange, setDraftRange] = useState(toEditedRange(typedRange.value));
  const [showsProblems, setShowsProblems] = useState(false);
  const requestRange = { from: toRequestTime(draftRange.from), to: toRequestTime(draftRange.to) };
  const problems = showsProblems ? findRangeProblems(requestRange) : {};
  return (
    <form
      class="range-form"
      onSubmit={(event) => {
        event.preventDefault();
        setShowsProblems(true);
        if (Object.keys(findRangeProblems(requestRange)).length > 0) return;
        setRange(requestRange);
        closePopover(event.currentTarget);
      }}
    >
      <h3>Custom range</h3>
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
      <p class="soft">
        Time zone:{' '}
        {displayTimeZone.value === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : displayTimeZone.value}
        . Also now-3h, now/d or a Unix time.
      </p>
      <Calendar
        from={toMilliseconds(requestRange.from)}
        to={toMilliseconds(requestRange.to, 'end')}
        onSelect={(from, to) =>
          setDraftRange(toEditedRange({ from: new Date(from).toISOString(), to: new Date(to).toISOString() }))
        }
      />
      <Button type="submit" kind="primary">
        Apply
      </Button>
    </form>
  );
};

const RangeOption = ({ range, title }: { readonly range: TimeRange; readonly title: string }) => (
  <li>
    <button
      type="button"
      aria-pressed={typedRange.value.from === range.from && typedRange.value.to === range.to}
      onClick={({ currentTarget }) => {
        setRange(range);
        closePopover(currentTarget);
      }}
    >
      {title}
    </button>
  </li>
);

const RangePanel = () => (
  <div class="range-panel">
    <div>
      <h3>Presets</h3>
      <ul>
        {presets.map(([from, title]) => (
          <RangeOption key={from} range={{ from, to: 'now' }} title={title} />
        ))}
      </ul>
      {recentRanges.value.length === 0 ? null : (
        <>
          <h3>Recent</h3>
          <ul>
            {recentRanges.value.map((range) => (
              <RangeOption key={`${range.from} ${range.to}`} range={range} title={toRangeTitle(range)} />
            ))}
          </ul>
        </>
      )}
    </div>
    <div>
      <RangeForm key={`${typedRange.value.from} ${typedRange.value.to}`} />
      <label class="check">
        <input
          type="checkbox"
          checked={comparesPrevious.value}
          onChange={({ currentTarget }) => setComparesPrevious(currentTarget.checked)}
        />
        Compare with previous period
      </label>
    </div>
  </div>
);

export const RangePicker = () => {
  const range = typedRange.value;
  const problems = Object.values(findRangeProblems(range));
  const title = toRangeTitle(range);
  return (
    <>
      <ButtonGroup label="Time range">
        <Popover id="range" icon={Clock} title={<span>{title}</span>} label={`Time range: ${title}`} alignment="end">
          {() => <RangePanel />}
        </Popover>
        <IconButton id="zoom-out" label="Zoom out" icon={ZoomOut} onClick={zoomOut} />
      </ButtonGroup>
      <RefreshControls />
      {problems.length === 0 ? null : (
        <p class="problem range-problem" role="alert">
          The time range in the URL is invalid. {problems[0]}
        </p>
      )}
    </>
  );
};
