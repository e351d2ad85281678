/** Number of items of an area that need attention, in the menu */
import { useEffect, useState } from 'preact/hooks';
import type { AreaCount } from './area.ts';
import { refreshCount } from './time-range.ts';

/** Interval in which the number is loaded again, in milliseconds */
const intervalMs = 60_000;

/** The number; nothing while there are no items, or while the server does not return them. */
export const AreaCountBadge = ({ count: { title, load } }: { readonly count: AreaCount }) => {
  const [text, setText] = useState('');
  useEffect(() => {
    let isCurrent = true;
    const update = async (): Promise<void> => {
      const loaded = await load().catch(() => undefined);
      if (isCurrent && loaded !== undefined)
        setText(loaded.count === 0 ? '' : `${loaded.count}${loaded.hasMore ? '+' : ''}`);
    };
    void update();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void update();
    }, intervalMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [load, refreshCount.value]);
  return text === '' ? null : (
    <span class="area-count">
      {text}
      <span class="sr-only"> {title}</span>
    </span>
  );
};
