/** Reloads the displayed data in the interval of the URL or of the view. A hidden tab does not reload. */
import { signal } from '@preact/signals';
import { RefreshCw } from 'lucide';
import { useEffect } from 'preact/hooks';
import { ButtonGroup, IconButton } from '../components/button.tsx';
import { Menu } from '../components/menu.tsx';
import { readParam, setParams } from './address.ts';
import { refresh } from './time-range.ts';

const intervals: readonly (readonly [value: string, title: string])[] = [
  ['0s', 'Off'],
  ['10s', 'Every 10 seconds'],
  ['30s', 'Every 30 seconds'],
  ['1m', 'Every minute'],
  ['5m', 'Every 5 minutes'],
];

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

const toSeconds = (interval: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(interval) ?? [];
  return Number(count) * (unitSeconds[unit] ?? 0);
};

/** Interval if the URL has none */
const defaultInterval = signal('0s');

/** Sets the default interval while a view is displayed, for example a dashboard with its own one; empty for none. */
export const useDefaultRefresh = (interval: string): void =>
  useEffect(() => {
    defaultInterval.value = interval || '0s';
    return () => {
      defaultInterval.value = '0s';
    };
  }, [interval]);

export const RefreshControls = () => {
  const value = readParam('refresh') || defaultInterval.value;
  const seconds = toSeconds(value);
  useEffect(() => {
    if (seconds === 0) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  const listed = intervals.some(([interval]) => interval === value)
    ? intervals
    : [...intervals, [value, `Every ${value}`] as const];
  return (
    <ButtonGroup label="Refresh">
      <IconButton id="refresh" label="Refresh" icon={RefreshCw} onClick={refresh} />
      <Menu
        id="refresh-interval"
        label="Auto-refresh"
        title={<span>{seconds === 0 ? 'Auto' : value}</span>}
        items={listed.map(([interval, title]) => ({
          title,
          isSelected: interval === value,
          onSelect: () =>
            setParams({ refresh: interval === defaultInterval.peek() ? '' : interval }, { replace: true }),
        }))}
      />
    </ButtonGroup>
  );
};
