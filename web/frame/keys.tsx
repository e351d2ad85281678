/** Keyboard shortcuts, and the dialog that lists them */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { refresh } from './time-range.ts';

const storageKey = 'oiq-single-keys';
const areEnabled = signal(localStorage.getItem(storageKey) !== 'off');
const isDialogOpen = signal(false);
/** Whether the command palette is open */
export const isPaletteOpen = signal(false);

const focusSearch = (): void => document.querySelector<HTMLElement>('[data-search]')?.focus();

const shortcuts: readonly (readonly [key: string, what: string, run: () => void])[] = [
  ['/', 'focus the search', focusSearch],
  ['r', 'refresh', refresh],
  [
    '?',
    'show keyboard shortcuts',
    () => {
      isDialogOpen.value = true;
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
    if (!areEnabled.value || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const shortcut = shortcuts.find(([key]) => key === event.key);
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut[2]();
  };
  const closeOtherMenus = ({ target }: Event): void => {
    for (const menu of document.querySelectorAll('details.menu[open]'))
      if (!(target instanceof Node && menu.contains(target))) menu.removeAttribute('open');
  };
  addEventListener('keydown', onKeyDown);
  addEventListener('pointerdown', closeOtherMenus);
  return () => {
    removeEventListener('keydown', onKeyDown);
    removeEventListener('pointerdown', closeOtherMenus);
  };
};

export const ShortcutDialog = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isDialogOpen.value) dialog.current?.showModal();
  }, [isDialogOpen.value]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="keys-title"
      onClose={() => {
        isDialogOpen.value = false;
      }}
    >
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <dl>
        {shortcuts.map(([key, description]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{description}</dd>
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
          checked={areEnabled.value}
          onChange={({ currentTarget }) => {
            areEnabled.value = currentTarget.checked;
            localStorage.setItem(storageKey, areEnabled.value ? 'on' : 'off');
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
