/**
 * Panel that a button opens above the page. The browser closes it on Escape and on a click outside, and returns the
 * focus to the button. Without support for anchors it opens in the middle of the page.
 */
import { ChevronDown } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ButtonKind } from './button.tsx';
import { Icon, type IconShape } from './icon.tsx';

/** Closes the popover around an element. */
export const closePopover = (element: EventTarget | null): void => {
  if (element instanceof Element) element.closest<HTMLElement>('[popover]')?.hidePopover();
};

export const Popover = ({
  id,
  title,
  label,
  icon,
  kind = 'secondary',
  hasArrow = true,
  alignment = 'start',
  children,
}: {
  /** id of the button */
  readonly id?: string | undefined;
  /** Content of the button */
  readonly title?: ComponentChildren;
  /** Name of the button, if its content is not enough */
  readonly label?: string;
  readonly icon?: IconShape | undefined;
  readonly kind?: ButtonKind;
  readonly hasArrow?: boolean;
  /** Edge of the button with which the panel is aligned */
  readonly alignment?: 'start' | 'end';
  /** Content, rendered while the panel is open */
  readonly children: () => ComponentChildren;
}) => {
  const panelId = useId();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        id={id}
        type="button"
        class={`button ${kind}${title === undefined ? ' icon-only' : ''}`}
        popovertarget={panelId}
        aria-expanded={isOpen}
        aria-label={label}
        data-tooltip={title === undefined ? label : undefined}
      >
        {icon === undefined ? null : <Icon shape={icon} />}
        {title}
        {hasArrow && title !== undefined ? <Icon shape={ChevronDown} size={14} /> : null}
      </button>
      <div
        id={panelId}
        popover="auto"
        class={`popover ${alignment}`}
        onToggle={({ newState }) => setIsOpen(newState === 'open')}
      >
        {isOpen ? children() : null}
      </div>
    </>
  );
};
