/** Reloads the displayed data in an interval that the URL has. A hidden tab does not reload. */
import { RefreshCw } from 'lucide';
import { useEffect } from 'preact/hooks';
import { ButtonGroup, IconButton } from '../components/button.tsx';
import { Menu } from '../components/menu.tsx';
import { readParam, setParams } from './address.ts';
import { refresh } from './time-range.ts';

const intervals: readonly (readonly [value: string, title: string, seconds: number])[] = [
  ['', 'Off', 0],
  ['10s', 'Every 10 seconds', 10],
  ['30s', 'Every 30 seconds', 30],
  ['1m', 'Every minute', 60],
  ['5m', 'Every 5 minutes', 300],
];

export const RefreshControls = () => {
  const [value, , seconds] = intervals.find(([name]) => name === readParam('refresh')) ?? ['', '', 0];
  useEffect(() => {
    if (seconds === 0) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return (
    <ButtonGroup label="Refresh">
      <IconButton id="refresh" label="Refresh" icon={RefreshCw} onClick={refresh} />
      <Menu
        id="refresh-interval"
        label="Auto-refresh"
        title={<span>{value === '' ? 'Auto' : value}</span>}
        items={intervals.map(([name, title]) => ({
          title,
          isSelected: name === value,
          onSelect: () => setParams({ refresh: name }, { replace: true }),
        }))}
      />
    </ButtonGroup>
  );
};
