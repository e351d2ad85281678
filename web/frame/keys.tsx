/** Keyboard shortcuts and their list */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { refresh } from './time-range.ts';

const storage = 'oiq-single-keys';
const areOn = signal(localStorage.getItem(storage) !== 'off');
const isOpen = signal(false);
/** Whether the command palette is open */
export const isPaletteOpen = signal(false);

const focusSearch = (): void => document.querySelector<HTMLElement>('[data-search]')?.focus();

const keys: readonly (readonly [key: string, what: string, run: () => void])[] = [
  ['/', 'open the search', focusSearch],
  ['r', 'refresh', refresh],
  [
    '?',
    'show keyboard shortcuts',
    () => {
      isOpen.value = true;
    },
  ],
];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Listens to keys until the returned function is called. */
export const listenToKeys = (): (() => void) => {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      isPaletteOpen.value = true;
      return;
    }
    if (event.key === 'Escape')
      for (const menu of document.querySelectorAll('details.menu[open]')) menu.removeAttribute('open');
    if (!areOn.value || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const found = keys.find(([key]) => key === event.key);
    if (found === undefined) return;
    event.preventDefault();
    found[2]();
  };
  const closeOthers = ({ target }: Event): void => {
    for (const menu of document.querySelectorAll('details.menu[open]'))
      if (!(target instanceof Node && menu.contains(target))) menu.removeAttribute('open');
  };
  addEventListener('keydown', onKeyDown);
  addEventListener('pointerdown', closeOthers);
  return () => {
    removeEventListener('keydown', onKeyDown);
    removeEventListener('pointerdown', closeOthers);
  };
};

export const Keys = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
  }, [isOpen.value]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="keys-title"
      onClose={() => {
        isOpen.value = false;
      }}
    >
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <dl>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Ctrl K</kbd>
          </dt>
          <dd>jump to an area, service, dashboard, saved query or trace</dd>
        </div>
        <div>
          <dt>
            <kbd>↑ ↓ Enter Esc</kbd>
          </dt>
          <dd>in a list: select, open, close</dd>
        </div>
      </dl>
      <label>
        <input
          type="checkbox"
          checked={areOn.value}
          onChange={({ currentTarget }) => {
            areOn.value = currentTarget.checked;
            localStorage.setItem(storage, areOn.value ? 'on' : 'off');
          }}
        />{' '}
        Enable single-key shortcuts
      </label>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
};
