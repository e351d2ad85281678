/** Menu of actions and links that a button opens. Arrow keys move between the items. */
import { Ellipsis } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ButtonKind } from './button.tsx';
import { Icon, type IconShape } from './icon.tsx';
import { closePopover, Popover } from './popover.tsx';

interface ItemContent {
  readonly title: ComponentChildren;
  readonly icon?: IconShape;
  /** Marks an action that deletes */
  readonly isDangerous?: boolean;
}
/** Link, or action, of a menu; a check mark shows whether an option is selected */
export type MenuItem = ItemContent &
  ({ readonly url: string } | { readonly onSelect: () => void; readonly isSelected?: boolean });

const moveFocus = (event: KeyboardEvent): void => {
  const list = event.currentTarget as HTMLElement;
  const items = [...list.querySelectorAll<HTMLElement>('[role^=menuitem]')];
  const index = items.indexOf(document.activeElement as HTMLElement);
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: (index + 1) % items.length,
    ArrowUp: (index - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  items[target]?.focus();
};

const MenuList = ({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }) => {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const selected = list.current?.querySelector<HTMLElement>('[aria-checked=true]');
    (selected ?? list.current?.querySelector<HTMLElement>('[role^=menuitem]'))?.focus();
  }, []);
  return (
    <div ref={list} class="menu-list" role="menu" aria-label={label} tabIndex={-1} onKeyDown={moveFocus}>
      {items.map((item, index) => {
        const content = (
          <>
            {item.icon === undefined ? null : <Icon shape={item.icon} />}
            <span>{item.title}</span>
          </>
        );
        const className = `menu-item${item.isDangerous === true ? ' dangerous' : ''}`;
        // Items have no id of their own.
        const key = index;
        if ('url' in item)
          return (
            <a key={key} class={className} role="menuitem" tabIndex={-1} href={item.url} data-page-link>
              {content}
            </a>
          );
        const isOption = item.isSelected !== undefined;
        return (
          // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the role of an option supports it
          <button
            key={key}
            type="button"
            class={className}
            role={isOption ? 'menuitemradio' : 'menuitem'}
            aria-checked={isOption ? item.isSelected : undefined}
            tabIndex={-1}
            onClick={({ currentTarget }) => {
              closePopover(currentTarget);
              item.onSelect();
            }}
          >
            {content}
          </button>
        );
      })}
    </div>
  );
};

export const Menu = ({
  id,
  label,
  title,
  icon,
  kind = 'secondary',
  items,
}: {
  readonly id?: string;
  /** Name of the menu */
  readonly label: string;
  /** Content of the button; without it, the button is an icon */
  readonly title?: ComponentChildren;
  readonly icon?: IconShape;
  readonly kind?: ButtonKind;
  readonly items: readonly MenuItem[];
}) => (
  <Popover
    id={id}
    title={title}
    icon={title === undefined ? (icon ?? Ellipsis) : icon}
    label={label}
    kind={kind}
    alignment="end"
  >
    {() => <MenuList label={label} items={items} />}
  </Popover>
);
